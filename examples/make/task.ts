/** What an example is made of. @module */

/** One turn of a scripted agent: what it says, and the command it really runs (none in a closing message). */
export interface Turn {
  readonly say: string;
  readonly run?: string;
}

/** One scripted run. */
export interface Candidate {
  readonly name: string;
  readonly turns: readonly Turn[];
}

/** A task, its starting files, several scripted runs, and the hidden check that decides the reward. */
export interface ExampleTask {
  readonly name: string;
  /** What the agent is asked. */
  readonly instruction: string;
  /** Starting files: path to contents. */
  readonly files: Readonly<Record<string, string>>;
  /** Bash, run in the folder that a candidate leaves behind; exit status 0 is reward 1. The agent never sees it. */
  readonly check: string;
  readonly candidates: readonly Candidate[];
}
