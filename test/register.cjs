// Runs TypeScript sources without a build: for Jest's worker threads, child processes in fault tests, benchmarks and generators.
const crypto = require('node:crypto');
const path = require('node:path');
const fs = require('node:fs');
const Module = require('node:module');
const { threadId } = require('node:worker_threads');

// Under an older Node the database add-on ends the process without a word.
if (Number(process.versions.napi) < 10)
  throw new Error(
    `Node ${process.versions.node} is too old. Use npm test or npm exec -- node, which find the bundled Node.`,
  );

const root = path.resolve(__dirname, '..');
// Each process and thread compiles the same packages.
Module.enableCompileCache(path.join(root, '.cache', 'compiled'));
const swcOptions = {
  swcrc: false,
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
  jsc: {
    target: 'es2022',
    keepClassNames: true,
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
  },
};
/** The aliases of tsconfig.json, each with one `*`: what is imported, and the path of its file with `$1` for the star. */
const aliases = Object.entries(require('../tsconfig.json').compilerOptions.paths).map(([alias, [file]]) => ({
  pattern: new RegExp(`^${alias.replace('*', '([^/]+)')}$`),
  file: file.replace(/^\.\//, '').replace('*', '$1'),
}));
/** The sources of the product: no tests, and no contract suites. */
const product = new RegExp(`^${root}/(?:apps|libs|projections)/(?!.*\\.(?:spec|e2e-spec|long-spec|contract)\\.ts$)`);
module.exports = { swcOptions, aliases, product };

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) {
  const alias = aliases.find(({ pattern }) => pattern.test(request));
  const target = alias ? path.join(root, request.replace(alias.pattern, alias.file)) : request;
  return resolveFilename.call(this, target, ...rest);
};
require.extensions['.ts'] = (module, filename) => module._compile(compiled(filename), filename);

// Every process and thread starts from sources, so what was compiled once is kept under the hash of its source.
function compiled(filename) {
  const source = fs.readFileSync(filename, 'utf8');
  const kept = path.join(
    root,
    '.cache',
    'swc',
    `${crypto.createHash('sha1').update(filename).update(source).digest('hex')}.js`,
  );
  if (fs.existsSync(kept)) return fs.readFileSync(kept, 'utf8');
  const { code } = require('@swc/core').transformSync(source, { ...swcOptions, filename });
  fs.mkdirSync(path.dirname(kept), { recursive: true });
  fs.writeFileSync(`${kept}.${process.pid}.${threadId}`, code);
  fs.renameSync(`${kept}.${process.pid}.${threadId}`, kept);
  return code;
}
