import { isIP } from 'node:net';
import { type Credentials, transportOf } from './transport';

let allowed: Promise<void> | undefined;

/**
 * Lets gRPC speak TLS to a server that is named by its address. It sends the address as the name of the server, which TLS
 * forbids and Node 26 refuses (@grpc/grpc-js 1.14). Without a name the certificate is checked against the address.
 */
export const allowTlsToAddresses = (): Promise<void> => (allowed ??= allow());

const allow = async (): Promise<void> => {
  // Gives access to the class of the credentials and never connects.
  const channel = await transportOf('esdb://localhost?tls=true').getChannel();
  const prototype = Object.getPrototypeOf(channel.internalChannel.credentials) as Credentials;
  channel.close();
  const create = prototype._createSecureConnector;
  prototype._createSecureConnector = function (this: Credentials, ...given: unknown[]): ReturnType<typeof create> {
    const connector = create.apply(this, given);
    if (isIP(connector.connectionOptions.servername ?? '') > 0) connector.connectionOptions.servername = '';
    return connector;
  };
};
