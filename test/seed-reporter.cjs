/** Names the seed of a run that failed. */
module.exports = class SeedReporter {
  onRunComplete(_contexts, { numFailedTests, numFailedTestSuites }) {
    if (numFailedTests + numFailedTestSuites > 0)
      process.stderr.write(`\nSEED=${process.env.SEED} draws the same again.\n`);
  }
};
