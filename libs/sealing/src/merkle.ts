import { hash } from 'node:crypto';

/** The domain 0x01 and room for two hashes. Hashing is synchronous, so one is enough. */
const node = Buffer.alloc(65, 1);

/** Merkle trees as in RFC 6962, 2.1, over leaves that are hashed already. */
const nodeHash = (left: Buffer, right: Buffer): Buffer => {
  left.copy(node, 1);
  right.copy(node, 33);
  return hash('sha256', node, 'buffer');
};

/** Where a tree of `size` leaves splits: the largest power of two below it. */
const splitOf = (size: number): number => 2 ** Math.ceil(Math.log2(size) - 1);

/** The root over at least one leaf. */
export const merkleRoot = (leaves: readonly Buffer[]): Buffer => {
  const [first] = leaves;
  if (first === undefined) throw new RangeError('a tree needs a leaf');
  if (leaves.length === 1) return first;
  const split = splitOf(leaves.length);
  return nodeHash(merkleRoot(leaves.slice(0, split)), merkleRoot(leaves.slice(split)));
};

/** The hashes that lead from leaf `index` to the root, nearest first. */
export const merklePath = (leaves: readonly Buffer[], index: number): readonly Buffer[] => {
  if (leaves.length <= 1) return [];
  const split = splitOf(leaves.length);
  return index < split
    ? [...merklePath(leaves.slice(0, split), index), merkleRoot(leaves.slice(split))]
    : [...merklePath(leaves.slice(split), index - split), merkleRoot(leaves.slice(0, split))];
};
