import { createServer } from 'node:net';

/** A port that is free with the two behind it, which some servers take too. Not one that the system gives to connections: those come and go while a server is down. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const free = await Promise.all([port, port + 1, port + 2].map(isFree));
    if (free.every(Boolean)) return port;
  }
};

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
