import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from '@elastic/elasticsearch';
import { ownTime } from '../../../../test/fixtures/own-time';
import { Server } from './server';

describe('a call to Elasticsearch', () => {
  let http: HttpServer;
  let server: Server;
  beforeEach(async () => {
    http = createServer(
      (_, answer) =>
        void answer
          .writeHead(200, {
            'content-type': 'application/json',
            'x-elastic-product': 'Elasticsearch',
            'content-length': '100',
          })
          .write('{"count":'),
    );
    await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
    server = new Server(
      new Client({ node: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, maxRetries: 0 }),
    );
  });
  afterEach(async () => {
    http.closeAllConnections();
    await server.close();
    http.close();
  });

  it('ends in time when its answer stops in the middle', async () => {
    const took = ownTime();
    await expect(
      server.call({ timeoutMs: 300 }, (client, options) => client.count({ index: 'any' }, options)),
    ).rejects.toMatchObject({
      name: 'Unavailable',
      reason: 'Elasticsearch did not answer in time',
      outcome: 'unknown',
    });
    expect(took()).toBeLessThan(4_000);
  });
});
