export const CORE = '/api/v1/core';

export interface Request {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly path: string;
  readonly body?: object;
}

export interface Kind {
  readonly name: string;
  /** How many ask at once, besides one alone; what a request may read of the server then, and the rate beside that of the embedded log. */
  readonly many: number;
  readonly reads: number;
  readonly ratio?: number;
  readonly request: (agents: readonly string[], caller: number, turn: number) => Request;
}

export const KINDS: readonly Kind[] = [
  {
    name: 'GET /agents/{id}',
    many: 64,
    reads: 0.2,
    ratio: 0.6,
    request: (agents, caller) => ({ method: 'GET', path: `${CORE}/agents/${agents[caller]}` }),
  },
  {
    name: 'PUT /agents/{id}',
    many: 64,
    reads: 2,
    ratio: 0.5,
    request: (agents, caller, turn) => ({
      method: 'PUT',
      path: `${CORE}/agents/${agents[caller]}`,
      body: { description: `Change ${turn}` },
    }),
  },
  {
    name: 'POST /spaces',
    many: 16,
    reads: 6,
    request: (_, caller, turn) => ({
      method: 'POST',
      path: `${CORE}/spaces`,
      body: { name: `Space ${turn}`, slug: `s${process.pid}-${caller}-${turn}` },
    }),
  },
  {
    name: 'chat completion',
    many: 64,
    reads: 0.5,
    ratio: 0.5,
    request: () => ({
      method: 'POST',
      path: '/api/compat/v1/chat/completions',
      body: { model: 'local-chat', messages: [{ role: 'user', content: 'What is the handbook about?' }] },
    }),
  },
  {
    name: 'conversation turn',
    many: 16,
    reads: 8,
    ratio: 0.5,
    request: (agents, caller) => ({
      method: 'POST',
      path: `${CORE}/llm/${agents[caller]}/conversation`,
      body: { message: 'What is the handbook about?' },
    }),
  },
];
