import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Behaviour, chunk, DONE, events, usageChunk } from '../fixtures/upstream-double';

/** An HTTP service on loopback whose one operation Agents may call as a tool. */
export interface ToolServer {
  /** For `TOOL_PRIVATE_HOSTS`. */
  readonly host: string;
  /** Paths that were called. */
  readonly calls: string[];
  /** Replaced by a test; says that it rains by default. */
  behaviour: (response: ServerResponse) => void;
  /** As an Agent's `tools` take it. */
  tool(approval: 'never' | 'always'): object;
  stop(): Promise<void>;
}

export const startToolServer = async (): Promise<ToolServer> => {
  const server = createServer((request, response) => {
    double.calls.push(request.url ?? '');
    double.behaviour(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const double: ToolServer = {
    host,
    calls: [],
    behaviour: (response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end('{"forecast":"Rain."}'),
    tool: (approval) => ({
      id: 'weather',
      name: 'Weather',
      kind: 'http',
      enabled: true,
      approval,
      http: { document: DOCUMENT, baseUrl: `http://${host}/v1` },
    }),
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return double;
};

const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Weather', version: '1' },
  paths: {
    '/forecast/{city}': {
      get: {
        operationId: 'getForecast',
        parameters: [{ name: 'city', in: 'path', required: true, schema: { type: 'string', maxLength: 50 } }],
        responses: { 200: { description: 'The forecast.' } },
      },
    },
  },
};

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content?: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** A model that calls the first tool that it is given, once for each city, and then says what came of it. */
export const callsTool =
  (...cities: readonly string[]): Behaviour =>
  (response, { body }) => {
    const { messages, tools = [] } = body as unknown as Asked;
    const results = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
    if (tools.length === 0 || results.some(({ role }) => role === 'tool')) {
      const said = results.flatMap(({ role, content }) => (role === 'tool' ? [content ?? ''] : []));
      return events(
        response,
        chunk({ content: `It says: ${said.join(' ')}` }),
        chunk({}, 'stop'),
        usageChunk(),
        DONE,
      ).end();
    }
    const calls = cities.map((city, index) => ({
      index,
      id: `call_${city}`,
      type: 'function',
      function: { name: tools[0]?.function.name, arguments: JSON.stringify({ city }) },
    }));
    return events(
      response,
      chunk({ reasoning_content: 'The forecast helps.' }),
      chunk({ content: 'Let me look.' }),
      chunk({ tool_calls: calls }),
      chunk({}, 'tool_calls'),
      usageChunk(),
      DONE,
    ).end();
  };
