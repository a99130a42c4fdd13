const { availableParallelism } = require('node:os');
const { aliases, swcOptions } = require('./register.cjs');

// One seed for all workers, named when the run fails: what tests draw at random, they draw again with it.
process.env.SEED ??= String(Date.now() % 2 ** 31);

/** @type {import('jest').Config} */
module.exports = {
  rootDir: '..',
  testEnvironment: '<rootDir>/test/environment.cjs',
  testRegex: '\\.(spec|e2e-spec)\\.ts$',
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json'],
  transform: { '^.+\\.(ts|m?js)$': ['@swc/jest', swcOptions] },
  // Node loads packages itself, whatever format they have: see testEnvironment.
  transformIgnorePatterns: ['/node_modules/'],
  moduleNameMapper: Object.fromEntries(aliases.map(({ pattern, file }) => [pattern.source, `<rootDir>/${file}`])),
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  // Faults kill processes and wait for them: `npm run test:faults`. Servers must be there: `npm run test:servers`.
  testPathIgnorePatterns: [
    '/node_modules/',
    ...(process.env.FAULTS === 'true' ? [] : ['<rootDir>/test/faults/']),
    ...(process.env.SERVERS === 'true' ? [] : ['<rootDir>/test/servers/[^/]+\\.spec\\.ts$']),
  ],
  testTimeout: 60_000,
  reporters: ['default', '<rootDir>/test/seed-reporter.cjs'],
  // Tests wait half of their time; those of faults and servers have processes of their own at work meanwhile.
  maxWorkers: process.env.FAULTS === 'true' || process.env.SERVERS === 'true' ? '100%' : 2 * availableParallelism(),
};
