/** Rounds of a fault test: a few by default, as many as `ROUNDS` says in a long run. */
export const rounds = (short: number): number => Number(process.env['ROUNDS'] ?? short);

/** How long a server is away in a long outage, milliseconds: so many seconds by default, as many as `AWAY_SECONDS` says in a long run. */
export const awayMs = (short: number): number => Number(process.env['AWAY_SECONDS'] ?? short) * 1_000;

/** Repeats a run when set to the seed that it printed. */
export const seed = Number(process.env['SEED']);

/** Numbers that the seed decides (mulberry32): each call gives a whole number from 0 to below `limit`. */
export const seededNumbers = (from = seed): ((limit: number) => number) => {
  let state = from >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
};

/** Runs an assertion and names the seed and the round when it fails. */
export const inRound = async (round: number, body: () => Promise<void>): Promise<void> => {
  try {
    await body();
  } catch (error) {
    throw new Error(`round ${round} with SEED=${seed}`, { cause: error });
  }
};
