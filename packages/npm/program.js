// Finds the program for this platform, which an optional dependency of this package contains.
"use strict";

const path = require("node:path");

const prefix = "agentnative-check-";
const platform = `${process.platform}-${process.arch}`;
const name = prefix + platform;

/** Returns the path of the program. Throws an error that names the missing package. */
module.exports.findPackagedProgram = () => {
  const supported = Object.keys(require("./package.json").optionalDependencies ?? {});
  if (!supported.includes(name)) {
    const platforms = supported.map((name) => name.slice(prefix.length)).join(", ");
    throw new Error(`no program for ${platform}; supported: ${platforms}`);
  }
  try {
    return path.join(path.dirname(require.resolve(`${name}/package.json`)), "agentnative");
  } catch {
    throw new Error(
      `the package ${name} is not installed; install agentnative-check again with optional dependencies, on this platform`,
    );
  }
};
