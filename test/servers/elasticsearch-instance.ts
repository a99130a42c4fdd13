import { randomBytes } from 'node:crypto';
import { Client } from '@elastic/elasticsearch';
import { openElasticsearchIndex, type SearchIndex } from '@app/search-index';

/** An instance of its own on a server, so that tests do not meet. */
export interface Instance {
  readonly prefix: string;
  /** The test's own way in. */
  readonly client: Client;
  /** Its address, or another way to it. */
  urlOf(address?: string): string;
  /** Opens the instance, through another address where one is given. */
  open(address?: string): Promise<SearchIndex>;
  /** Closes what was opened and removes every index. */
  destroy(): Promise<void>;
}

export const instanceOn = (url: string): Instance => {
  const prefix = `test-${randomBytes(6).toString('hex')}`;
  const client = new Client({ node: url });
  const opened: SearchIndex[] = [];
  const instanceUrl = (address: string): string => {
    const own = new URL(address);
    own.searchParams.set('prefix', prefix);
    return own.href;
  };
  return {
    prefix,
    client,
    urlOf: (address = url) => instanceUrl(address),
    open: async (address = url) => {
      const index = await openElasticsearchIndex({ url: instanceUrl(address) });
      opened.push(index);
      return index;
    },
    destroy: async () => {
      for (const index of opened) await index.close();
      for (const index of Object.keys(await client.indices.get({ index: `${prefix}-*` })))
        await client.indices.delete({ index });
      await client.close();
    },
  };
};
