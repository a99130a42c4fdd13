import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface ProxiedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** What becomes of a request: it passes; an answer stands in for the server's; it is cut before the server sees it, or the server's answer to it is lost. */
export type Fate = 'pass' | 'cut' | 'lose-answer' | { readonly status: number; readonly body: object };

/** Stands between a client and an HTTP server on loopback, and meddles. */
export interface HttpProxy {
  readonly url: string;
  /** Decides what becomes of each request; may wait. */
  meddle: (request: ProxiedRequest) => Fate | Promise<Fate>;
  /** Rejects connections, and ends those that are open. */
  leave(): Promise<void>;
  comeBack(): Promise<void>;
}

export const proxyTo = async (target: string): Promise<HttpProxy> => {
  const sockets = new Set<Socket>();
  const server = createServer((incoming, outgoing) => void forward(incoming, outgoing).catch(() => outgoing.destroy()));
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => void server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;

  const forward = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await text(incoming);
    const { method = 'GET', url: path = '/', headers } = incoming;
    const fate = await proxy.meddle({ method, path, body });
    if (fate === 'cut') return void outgoing.destroy();
    if (typeof fate === 'object')
      return void outgoing
        .writeHead(fate.status, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' })
        .end(JSON.stringify(fate.body));
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      send(new URL(path, target), { method, headers }, resolve).on('error', reject).end(body),
    );
    const answered = await text(answer);
    if (fate === 'lose-answer') return void outgoing.destroy();
    const { 'transfer-encoding': _, 'content-length': __, ...kept } = answer.headers;
    outgoing.writeHead(answer.statusCode ?? 500, kept).end(answered);
  };
  const proxy: HttpProxy = {
    url: `http://127.0.0.1:${port}`,
    meddle: () => 'pass',
    leave: async () => {
      const closed = new Promise((resolve) => void server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    comeBack: () => listen(port),
  };
  return proxy;
};

const text = async (message: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};
