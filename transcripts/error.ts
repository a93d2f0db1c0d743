/**
 * The one error that the transcript readers throw.
 *
 * @module
 */

/** Where in a file something is wrong; lines and columns are 1-based, columns count characters (UTF-16 units). */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A file that can't be read as a trajectory. The message names the file and, where it is known, the place. */
export class TranscriptError extends Error {
  override readonly name = "TranscriptError";
  /** Name of the file as the caller gave it. */
  readonly file: string;
  readonly place: Place | null;

  constructor(file: string, problem: string, place: Place | null = null) {
    super(`${file}${place === null ? "" : `:${place.line}:${place.column}`}: ${problem}`);
    this.file = file;
    this.place = place;
  }
}
