/** What stands in the way of listening, and what to do now; undefined for other errors. */
export const listenSentence = (error: unknown): string | undefined => {
  const { code, syscall, port, address, hostname } = error as {
    code?: unknown;
    syscall?: unknown;
    port?: number;
    address?: string;
    hostname?: string;
  };
  if (syscall === 'getaddrinfo')
    return hostname === undefined ? undefined : `HOST=${hostname} cannot be resolved. Try HOST=127.0.0.1 npm start.`;
  if (syscall !== 'listen') return undefined;
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} is in use. Try PORT=${otherThan(port)} npm start.`;
    case 'EACCES':
      return `Port ${port} needs more rights than this user has. Try PORT=3000 npm start.`;
    case 'EADDRNOTAVAIL':
      return `HOST=${address} is not an address of this machine. Try HOST=127.0.0.1 npm start.`;
    default:
      return undefined;
  }
};

const otherThan = (port: number | undefined): number => (port === undefined || port >= 65_535 ? 3_000 : port + 1);
