import { hash } from 'node:crypto';
import { rootOfPath } from '../../../test/fixtures/verify-proof';
import { merklePath, merkleRoot } from './merkle';

const leafOf = (data: string): Buffer =>
  hash('sha256', Buffer.concat([Buffer.of(0), Buffer.from(data, 'hex')]), 'buffer');

/** The leaves and roots of Certificate Transparency's test vectors for RFC 6962. */
const LEAVES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'].map(
  leafOf,
);
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

describe('Merkle trees', () => {
  it.each(ROOTS.map((root, index) => [index + 1, root] as const))(
    'over %i leaves have the root of RFC 6962',
    (size, root) => {
      expect(merkleRoot(LEAVES.slice(0, size)).toString('hex')).toBe(root);
    },
  );

  it('prove each leaf of every size, and no other leaf at its place', () => {
    for (let size = 1; size <= 40; size += 1) {
      const leaves = Array.from({ length: size }, (_, index) => leafOf(index.toString(16).padStart(4, '0')));
      const root = merkleRoot(leaves);
      leaves.forEach((leaf, index) => {
        const path = merklePath(leaves, index);
        expect(rootOfPath(leaf, index, size, path)?.equals(root)).toBe(true);
        expect(rootOfPath(leafOf('ffff'), index, size, path)?.equals(root)).toBe(false);
        expect(rootOfPath(leaf, (index + 1) % size, size, path)?.equals(root) ?? false).toBe(size === 1);
        expect(rootOfPath(leaf, index, size, [...path, root])).toBeUndefined();
      });
    }
  });
});
