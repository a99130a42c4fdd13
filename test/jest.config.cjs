const { existsSync, statfsSync } = require('node:fs');
const { availableParallelism } = require('node:os');
const { aliases, product, swcOptions } = require('./register.cjs');

// Of what tests draw at random, for all workers, and named when the run fails.
process.env.SEED ??= '1';

// Data folders of tests are in memory where there is room: what waits for a disk is measured in test/load and broken in test/faults.
const inMemory = '/dev/shm';
const isWhole = process.env.FAULTS !== 'true' && process.env.SERVERS !== 'true';
if (isWhole && existsSync(inMemory)) {
  const { bavail, bsize } = statfsSync(inMemory);
  if (bavail * bsize > 4 * 2 ** 30) process.env.TMPDIR ??= inMemory;
}

// A file that takes seconds of processor time is `*.long-spec.ts`. Whoever names files waits for them, whoever names none does not:
// `npm run test:long`. The first argument behind `-c` and this file's name is a pattern, unless it is an option.
const namesFiles = process.argv[4] !== undefined && !process.argv[4].startsWith('-');

/** @type {import('jest').Config} */
module.exports = {
  rootDir: '..',
  cacheDirectory: '<rootDir>/.cache/jest',
  testEnvironment: '<rootDir>/test/environment.cjs',
  testSequencer: '<rootDir>/test/sequencer.cjs',
  setupFiles: ['<rootDir>/test/draws.cjs'],
  testRegex: '\\.(spec|e2e-spec|long-spec)\\.ts$',
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json'],
  transform: { '^.+\\.(ts|m?js)$': ['@swc/jest', swcOptions] },
  // Node loads packages itself, whatever format they have, and the product's sources: see testEnvironment.
  transformIgnorePatterns: ['/node_modules/', product.source],
  moduleNameMapper: Object.fromEntries(aliases.map(({ pattern, file }) => [pattern.source, `<rootDir>/${file}`])),
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  // Each race, attack or broken request many times, on every route: `npm run test:exhaustive`. Faults kill processes and wait for
  // them: `npm run test:faults`. Servers must be there: `npm run test:servers`. What is built must be there: `npm run test:built`.
  testPathIgnorePatterns: [
    '/node_modules/',
    ...(namesFiles ? [] : ['\\.long-spec\\.ts$']),
    ...(process.env.EXHAUSTIVE === 'true' ? [] : ['<rootDir>/test/exhaustive/']),
    ...(process.env.FAULTS === 'true' ? [] : ['<rootDir>/test/faults/']),
    ...(process.env.BUILT === 'true' ? [] : ['<rootDir>/test/built/']),
    // The double of EventStoreDB has specs of its own, which need no server.
    process.env.SERVERS === 'true'
      ? '<rootDir>/test/servers/eventstoredb/'
      : '<rootDir>/test/servers/[^/]+\\.spec\\.ts$',
  ],
  // It tells of a test that hangs, long behind `until`: what is only slow beside others passes. Tests with a limit of their own count their own time.
  testTimeout: 180_000,
  // A worker that loaded the whole product takes more than Jest's half second to exit on a busy machine. One that leaks never does.
  workerGracefulExitTimeout: 10_000,
  reporters: ['default', '<rootDir>/test/seed-reporter.cjs'],
  // Tests wait half of their time, those of faults most of it. Those of servers have the servers and many processes at work meanwhile.
  maxWorkers: Math.ceil((isWhole ? 2 : process.env.FAULTS === 'true' ? 1.5 : 1) * availableParallelism()),
};
