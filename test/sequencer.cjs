const { default: Sequencer } = require('@jest/test-sequencer');

/** Files that take longest, so that none of them is left to run alone at the end. Jest knows how long a file takes only from an earlier run. */
const LONGEST = [
  /\/faults\/(?:eventstore-network|eventstore-outage|hostile-files|knowledge-outage|processes-rebuild|relay-kafka)\.spec\.ts$/,
  /\/servers\/(?:elasticsearch|elasticsearch-product|eventstoredb-product|memory|processes|spending)\.spec\.ts$/,
  /\/(?:archive\/read|compat-failures|connecting|event-store-log|first-start|knowledge-ready|log-races|memory-races|memory-screening-model|messages|parallel-writes|read-index-limits|sentences|several-appends|shared-server|skills-hostile|slow-server|stop-races)\.(?:e2e-|long-)?spec\.ts$/,
];

/** Begins with what takes longest. */
module.exports = class LongestFirst extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    return [true, false].flatMap((isLong) =>
      sorted.filter(({ path }) => LONGEST.some((pattern) => pattern.test(path)) === isLong),
    );
  }
};
