// Tests run in the realm of their process, as the product does: the error of a socket is an instance of `Error`, and a package
// loads once for all files that a process tests, by Node itself. Jest's own environment makes a realm for each file and loads
// and compiles every package in it again, which took more time than the tests. The sources of the product are loaded once, too;
// tests, their fixtures and contract suites are loaded anew for each file.
const { statSync } = require('node:fs');
const { findSourceMap, setSourceMapsSupport } = require('node:module');
const vm = require('node:vm');
const { LegacyFakeTimers, ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');
const { product } = require('./register.cjs');

/** Stands for the realm of the process where Jest asks for one to compile in. */
const context = vm.createContext();
/** What Jest keeps the state of a file in: it is loaded anew, too. */
const ofTheFile = /\/node_modules\/(?:jest-circus|expect|@jest\/expect)\//;
// Jest knows no source map of what it did not load: Node does.
setSourceMapsSupport(true);
const frame = /(\/[^:()]+\.ts):(\d+):(\d+)/g;
const inSources = (stack) =>
  stack.replace(frame, (at, file, line, column) => {
    const origin = product.test(file) ? findSourceMap(file)?.findOrigin(Number(line), Number(column)) : undefined;
    return origin?.lineNumber === undefined ? at : `${file}:${origin.lineNumber}:${origin.columnNumber}`;
  });
/** When the process began: sources that change later, as while Jest watches, are loaded again. */
let loadedAt = Date.now();
const { compileFunction } = vm;
vm.compileFunction = (code, parameters, { parsingContext, ...options } = {}) => {
  if (parsingContext !== context) return compileFunction(code, parameters, { parsingContext, ...options });
  const { filename } = options;
  if (product.test(filename) || (filename.includes('/node_modules/') && !ofTheFile.test(filename)))
    return (module) => void (module.exports = require(filename));
  return compileFunction(code, parameters, options);
};

/** Symbols under which Jest keeps what concerns one file in the realm, with all that its tests hold. One of them is another for each file. */
const jestState = ['EVENT_HANDLERS', 'JEST_STATE_SYMBOL', 'RETRY_TIMES', 'TEST_TIMEOUT_SYMBOL'];

module.exports = class ProcessEnvironment {
  global = globalThis;
  before = { console, env: process.env, variables: { ...process.env }, exit: process.exit };
  moduleMocker = new ModuleMocker(globalThis);

  constructor({ projectConfig: config }) {
    this.fakeTimers = new LegacyFakeTimers({
      config,
      global: globalThis,
      moduleMocker: this.moduleMocker,
      timerConfig: { idToRef: (timer) => timer, refToId: (timer) => timer },
    });
    this.fakeTimersModern = new ModernFakeTimers({ config, global: globalThis });
  }

  async setup() {
    const { prepareStackTrace } = Error;
    Error.prepareStackTrace = (error, frames) => inSources(prepareStackTrace(error, frames));
    const sources = Object.keys(require.cache).filter((file) => product.test(file));
    if (!sources.some((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs > loadedAt)) return;
    for (const file of sources) delete require.cache[file];
    loadedAt = Date.now();
  }

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    this.fakeTimers.dispose();
    this.fakeTimersModern.dispose();
    for (const symbol of Object.getOwnPropertySymbols(globalThis))
      if (jestState.includes(symbol.description)) delete globalThis[symbol];
    const { env, variables, exit } = this.before;
    for (const name of Object.keys(env)) if (!(name in variables)) delete env[name];
    Object.assign(process, { env: Object.assign(env, variables), exit });
    globalThis.console = this.before.console;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return context;
  }
};
