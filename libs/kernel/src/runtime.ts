/**
 * The version of Node's native interface for which the embedded database is built: with an older one, its first call
 * ends the process without a message.
 */
const NODE_API = 10;

/** This version of Node cannot run the platform. */
export class UnfitRuntime extends Error {
  override readonly name = 'UnfitRuntime';
}

/** Throws `UnfitRuntime` under a Node that is too old. */
export const assertRuntime = (
  { node, napi = '0' }: Readonly<Partial<Record<string, string>>> = process.versions,
): void => {
  if (Number(napi) >= NODE_API) return;
  throw new UnfitRuntime(
    `Node ${node} is too old. Use npm start, npm run or npm exec, which find the bundled Node. If it is not installed, use Node 22.14 or newer.`,
  );
};
