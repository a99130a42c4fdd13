import { once } from 'node:events';
import { openMongoServer } from '@app/read-store';

/** Upserts rows into a collection with the driver's bulk writes; says `up`, begins at a word of its parent, and says `done`. */
const [, , url = '', name = '', rows = '0'] = process.argv;
const PAGE = 1_000;

const main = async (): Promise<void> => {
  const server = await openMongoServer({ url, dependency: 'bench' });
  const collection = server.db.collection<{ _id: string }>('bare');
  process.stdout.write('up\n');
  await once(process.stdin, 'data');
  for (let start = 0; start < Number(rows); start += PAGE) {
    const page = Array.from({ length: Math.min(PAGE, Number(rows) - start) }, (_, index) => ({
      replaceOne: {
        filter: { _id: `${name}-${start + index}` },
        replacement: { name, count: start, last: name },
        upsert: true,
      },
    }));
    await collection.bulkWrite(page, { ordered: false });
  }
  process.stdout.write('done\n');
  await server.close();
  process.exit(0);
};

void main();
