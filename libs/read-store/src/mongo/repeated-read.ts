import { isOfSocket } from './mongo-errors';

/** Connections that broke at the same time may be tried one after the other. */
const MOST_TRIES = 3;

/** Reads again where the connection broke as it was written to: such an error the driver lets through as the socket threw it, and repeats nothing. */
export const repeatedRead = async <T>(read: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (!isOfSocket(error) || attempt === MOST_TRIES) throw error;
    }
  }
};
