// Runs TypeScript sources without a build: for Jest's worker threads, child processes in fault tests, benchmarks and generators.
const path = require('node:path');
const fs = require('node:fs');
const Module = require('node:module');

const root = path.resolve(__dirname, '..');
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
module.exports = { swcOptions };

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) {
  const alias = /^@(app|projections)\/([^/]+)$/.exec(request);
  const target = alias ? path.join(root, alias[1] === 'app' ? 'libs' : 'projections', alias[2], 'src', 'index.ts') : request;
  return resolveFilename.call(this, target, ...rest);
};
require.extensions['.ts'] = (module, filename) => {
  const { code } = require('@swc/core').transformSync(fs.readFileSync(filename, 'utf8'), { ...swcOptions, filename });
  module._compile(code, filename);
};
