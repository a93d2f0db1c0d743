// @ts-check
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { onlyLooks } from "../../lib/gate/shell.js";

describe("a shell command only looks", () => {
  const looking = [
    "ls",
    "ls -la src | head -n 20",
    "cd src && cat a.js; wc -l < b.js",
    "grep -rn 'rm -rf $HOME' . 2>/dev/null | sort | uniq -c",
    'find . -name "*.js" -not -path "./node_modules/*" 2>&1',
    "git -C repo --no-pager log --oneline -5",
    "git status\ngit diff HEAD~1 -- src",
    "git branch -a && git remote -v && git stash list",
    "sed -n '10,40p' lib/a.js",
    "node --version || python3 -V",
    'echo "a > b; rm x \\" still a string"',
    "cat a\\ file.txt",
    "set -euo pipefail; pwd",
    "date -u +%F",
    "cat x &> /dev/null",
    "cat src/*.js | sort",
    "[ -f a ] && find . -name '*.js'",
  ];
  for (const command of looking) {
    test(command, () => assert.equal(onlyLooks(command), true));
  }
});

describe("a shell command may do something", () => {
  const doing = [
    "",
    "   ",
    "rm -rf x",
    "npm test",
    "ls > files.txt",
    "ls >> files.txt",
    "ls >/dev/null.txt",
    "ls >| x",
    "ls;>/dev/null rm x",
    "cat <<EOF\nx\nEOF",
    "cat <(rm x)",
    "cat <> made",
    "echo $(rm x)",
    "echo `rm x`",
    'echo "$(rm x)"',
    "ls & rm x",
    "ls | tee copy",
    "ls | xargs rm",
    "find . -delete",
    "find . -name x -exec rm {} +",
    "find . '-del'ete",
    "find . -{delete,print}",
    "find . -fprint out",
    "git checkout .",
    "git -c core.pager=evil log",
    "git log --output=x",
    "git diff --outp=x",
    "git branch new",
    "git tag v1",
    "git stash",
    "git grep -O x",
    "git config user.name x",
    "sed -i s/a/b/ x",
    "sed -n '1w out' x",
    "awk '{print > \"x\"}' y",
    "sort -o x x",
    "sort -uo x x",
    "sort --comp=evil x",
    "uniq a b",
    "xxd *",
    "uniq ?",
    "find *",
    "sort [a-z]",
    "ls \0",
    "tree -R",
    "date -s 12:00",
    "hostname other",
    "rg --pre evil x",
    "A=1 ls",
    "ls # comment\nrm x",
    "'unclosed",
    '"unclosed',
    "ls\rrm",
    "python3 -c 'print(1)'",
    "node script.js",
    "(rm x)",
    "if true; then rm x; fi",
    "ls |& rm",
    "/bin/ls",
    "toString",
    "constructor",
  ];
  for (const command of doing) {
    test(JSON.stringify(command), () => assert.equal(onlyLooks(command), false));
  }
});
