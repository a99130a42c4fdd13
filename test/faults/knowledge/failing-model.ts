import type { ServerResponse } from 'node:http';
import { type ProviderDouble, startProviderDouble } from '../../fixtures/provider-double';

/** What becomes of calls of a model. */
export type Fate =
  'answers' | 'is gone' | 'hangs' | 'fails' | 'is overloaded' | 'answers garbage' | 'answers too little';
export const OUTAGES: readonly Fate[] = [
  'is gone',
  'hangs',
  'fails',
  'is overloaded',
  'answers garbage',
  'answers too little',
];

/** A model on a port of its own that can be away in every way. */
export class Model {
  /** Texts that it has answered for, in order. */
  readonly answered: string[] = [];
  private fate: Fate = 'answers';
  /** Asked before each good answer. */
  hold: () => Promise<void> = async () => undefined;

  private constructor(
    private double: ProviderDouble,
    private readonly answer: (body: Readonly<Record<string, unknown>>) => { texts: string[]; body: object },
  ) {
    double.answer = (_, body, response) => void this.meet(body, response);
  }

  static async start(answer: Model['answer']): Promise<Model> {
    return new Model(await startProviderDouble(), answer);
  }

  get baseUrl(): string {
    return this.double.baseUrl;
  }
  get calls(): number {
    return this.double.calls.length;
  }

  async become(fate: Fate): Promise<void> {
    this.fate = fate;
    const { port } = new URL(this.double.baseUrl);
    await this.double.stop();
    if (fate === 'is gone') return;
    this.double = await startProviderDouble(Number(port));
    this.double.answer = (_, body, response) => void this.meet(body, response);
  }

  async stop(): Promise<void> {
    if (this.fate !== 'is gone') await this.double.stop();
  }

  private async meet(given: Readonly<Record<string, unknown>>, response: ServerResponse): Promise<void> {
    const json = { 'content-type': 'application/json' };
    switch (this.fate) {
      case 'fails':
        return void response.writeHead(500, json).end('{"error":{"message":"out of memory"}}');
      case 'is overloaded':
        return void response.writeHead(429, json).end('{"error":{"message":"slow down"}}');
      case 'answers garbage':
        return void response.writeHead(200, json).end('<html>It works!</html>');
      case 'answers too little':
        return void response.writeHead(200, json).end('{"data":[],"results":[]}');
      case 'answers': {
        const { texts, body } = this.answer(given);
        await this.hold();
        const usage = { prompt_tokens: texts.length * 10, total_tokens: texts.length * 10 };
        if (response.socket?.destroyed !== false) return;
        this.answered.push(...texts);
        return void response.writeHead(200, json).end(JSON.stringify({ ...body, usage }));
      }
      case 'hangs':
      case 'is gone':
    }
  }
}
