import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { join } from "@std/path";
import { TranscriptError } from "../transcripts/transcript.ts";
import { agreeOnTask, MAXIMUM_FILE_BYTES, readInputs, textOrFile } from "./inputs.ts";
import { type Io, UsageError } from "./io.ts";

const io = { readStdin: () => Promise.resolve(new TextEncoder().encode("from the pipe")) } as unknown as Io;
const chat = (task: string | null, answer = "done") =>
  JSON.stringify([...(task === null ? [] : [{ role: "user", content: task }]), {
    role: "assistant",
    content: answer,
  }]);

async function inFolder(
  files: Readonly<Record<string, string>>,
  test: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "assay-test-" });
  try {
    for (const [name, text] of Object.entries(files)) {
      if (name.includes("/")) await Deno.mkdir(join(folder, name.split("/")[0]!), { recursive: true });
      await Deno.writeTextFile(join(folder, name), text);
    }
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("readInputs() reads a folder's trajectory files in order of name and says what it left alone", () =>
  inFolder({
    "b.json": chat("t"),
    "a.jsonl": '{"role":"assistant","content":"x"}',
    ".hidden.json": "{",
    "README.md": "x",
    "c.txt": "y",
  }, async (folder) => {
    const { inputs, notes } = await readInputs([folder], io);
    assertEquals(inputs.map(({ id }) => id), ["a", "b", "c"]);
    assertEquals(notes, [`${folder}: 1 other files are left alone (README.md)`]);
  }));

Deno.test("readInputs() reads files and standard input, and tells runs of one name apart by their files", () =>
  inFolder({ "one/run.txt": "1", "two/run.txt": "2" }, async (folder) => {
    const { inputs } = await readInputs([join(folder, "one/run.txt"), "-", join(folder, "two/run.txt")], io);
    assertEquals(inputs[1]!.id, "standard input");
    assertEquals(inputs[1]!.trajectory.text, "from the pipe");
    assert(inputs[0]!.id !== inputs[2]!.id);
    assertStringIncludes(inputs[0]!.id, join("one", "run.txt"));
    await assertRejects(() => readInputs(["-", "-"], io), UsageError, "only once");
  }));

Deno.test("readInputs() names what can't be read", () =>
  inFolder({ "sub/a.json": chat("t"), "broken.json": "{", "binary.txt": "\0\0\0\0x" }, async (folder) => {
    const cases: [string, string][] = [
      [join(folder, "missing.json"), "missing.json: there is no such file or folder"],
      [join(folder, "broken.json"), "broken.json:1:2: the JSON is cut off here"],
      [join(folder, "binary.txt"), "looks binary"],
      [folder, "binary.txt"],
    ];
    for (const [path, message] of cases) {
      const error = await assertRejects(() => readInputs([path], io), Error, message);
      assert(error instanceof UsageError || error instanceof TranscriptError);
    }
    await Deno.remove(join(folder, "broken.json"));
    await Deno.remove(join(folder, "binary.txt"));
    await assertRejects(() => readInputs([folder], io), UsageError, `try ${join(folder, "sub")}`);
    await Deno.remove(join(folder, "sub"), { recursive: true });
    await assertRejects(() => readInputs([folder], io), UsageError, "holds no trajectory files");
    const large = await Deno.open(join(folder, "large.txt"), { create: true, write: true });
    await large.truncate(MAXIMUM_FILE_BYTES + 1);
    large.close();
    await assertRejects(() => readInputs([join(folder, "large.txt")], io), UsageError, "is too large");
  }));

Deno.test("readInputs() refuses more candidates than a tournament takes before it reads any", () =>
  inFolder({}, async (folder) => {
    const nowhere = join(folder, "a.json");
    await Deno.writeTextFile(nowhere, "not read");
    await assertRejects(
      () => readInputs(Array(1001).fill(nowhere), io),
      UsageError,
      "1001 trajectories are too many: the limit is 1000",
    );
  }));

Deno.test("agreeOnTask() takes the task that the files agree on, and says what it can't", () =>
  inFolder({
    "a.json": chat("Fix it."),
    "b.json": chat("Fix it. \n"),
    "c.json": chat(null),
    "d.json": chat("Break it."),
  }, async (folder) => {
    const read = async (...names: string[]) =>
      (await readInputs(names.map((name) => join(folder, name)), io)).inputs;
    assertEquals(agreeOnTask(await read("a.json", "b.json"), undefined), {
      task: "Fix it.",
      images: [],
      notes: [],
    });
    assertEquals(agreeOnTask(await read("a.json", "c.json"), undefined).notes, [
      "1 of 2 files state no task; they are judged on the task of the others",
    ]);
    assertEquals(agreeOnTask(await read("a.json"), "Other.").notes.length, 1);
    assertEquals(agreeOnTask(await read("a.json"), "Fix it.").notes, []);
    const [mixed, silent] = [await read("a.json", "d.json"), await read("c.json")];
    const error = assertThrows(() => agreeOnTask(mixed, undefined), UsageError, "different tasks");
    assertStringIncludes(error.message, "d.json: Break it.");
    assertThrows(() => agreeOnTask(silent, undefined), UsageError, "--task");
  }));

Deno.test("textOrFile() reads @FILE and names a file it can't read", () =>
  inFolder({ "task.md": "\uFEFFDo it." }, async (folder) => {
    assertEquals(await textOrFile("plain", "task"), "plain");
    assertEquals(await textOrFile(`@${join(folder, "task.md")}`, "task"), "Do it.");
    await assertRejects(() => textOrFile("@", "task"), UsageError, "--task @ needs a file name");
    await assertRejects(() => textOrFile("@nowhere", "task"), UsageError, "nowhere");
    await Deno.writeFile(join(folder, "bad"), new Uint8Array([0xff]));
    await assertRejects(() => textOrFile(`@${join(folder, "bad")}`, "task"), UsageError, "not UTF-8");
  }));
