import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OpenStreams } from './open-streams';
import type { UnreadAnswers } from './slow-readers';
import { turnsEnd } from './turns-end';

/** From this length on bytes beside the headers are cheaper to send than one string. */
const LONG = 8_192;

/** Of longer answers it is looked at once they were sent how much their caller leaves unread. */
const MUCH = 256 * 1024;

/** JSON text that is ready to send. Presenters make it once a row and cache it. */
export class JsonText {
  private bytes: Buffer | undefined;

  constructor(readonly text: string) {}

  /** An object of these members, as `JSON.stringify` makes it; those that are JSON text, and lists of it, are taken as they are. */
  static of(members: Readonly<Record<string, unknown>>): JsonText {
    const texts = Object.entries(members).flatMap(([name, value]) =>
      value === undefined ? [] : [`${JSON.stringify(name)}:${textOf(value)}`],
    );
    return new JsonText(`{${texts.join(',')}}`);
  }

  /** What is sent: long texts as bytes, so that they are encoded once however often they are sent. */
  get payload(): string | Buffer {
    if (this.text.length < LONG) return this.text;
    return (this.bytes ??= bytesOf(this.text));
  }

  /** The same object with further members. */
  with(members: Readonly<Record<string, unknown>>): JsonText {
    const added = JSON.stringify(members);
    if (added === '{}') return this;
    return new JsonText(this.text === '{}' ? added : `${this.text.slice(0, -1)},${added.slice(1)}`);
  }
}

const textOf = (value: unknown): string => {
  if (value instanceof JsonText) return value.text;
  return Array.isArray(value) && value.every((item) => item instanceof JsonText)
    ? `[${value.map(({ text }) => text).join(',')}]`
    : JSON.stringify(value);
};

/** Bytes of their own: a short `Buffer.from` is a piece of a shared slab of 64 KB, all of which it would keep. */
const bytesOf = (text: string): Buffer => {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
};

// Nest asks of every result whether it is a plain object, by the source text of its constructor; without one it need not read that.
Reflect.deleteProperty(JsonText.prototype, 'constructor');

/** An item that is read, with its revision: the answer has it as its `etag`. */
export class Tagged {
  constructor(
    readonly json: JsonText,
    readonly revision: number,
  ) {}
}
Reflect.deleteProperty(Tagged.prototype, 'constructor');

/** Answers an item with its `etag`. */
export const tagged = (json: JsonText, revision: number): Tagged => new Tagged(json, revision);

/**
 * Nest's Fastify adapter that sends `JsonText` unchanged, of what is `Tagged` with its `etag`, and serves `PATCH` for every `PUT` handler: they mean the
 * same (wire, Everywhere).
 */
export class JsonTextAdapter extends FastifyAdapter {
  /** Watch what is being sent. `Edge` sets them: an adapter is made before anything is provided. */
  watching:
    | {
        readonly streams: Pick<OpenStreams, 'add'>;
        readonly unread: Pick<UnreadAnswers, 'look'>;
        /** Told where a body cannot be read to its end. */
        readonly failed: (request: FastifyRequest, error: Error) => void;
      }
    | undefined;

  override reply(response: FastifyReply, body: unknown, statusCode?: number): ReturnType<FastifyAdapter['reply']> {
    if (body instanceof Tagged) {
      response.header('etag', `"${body.revision}"`);
      return this.reply(response, body.json, statusCode);
    }
    if (!(body instanceof JsonText)) {
      const stream = body instanceof StreamableFile ? body.getStream() : body;
      if (stream instanceof Readable && this.watching !== undefined) {
        const { streams, failed } = this.watching;
        streams.add(stream, response.request);
        stream.once('error', (error) => failed(response.request, error));
      }
      return super.reply(response, body, statusCode);
    }
    if (statusCode !== undefined) response.status(statusCode);
    response.header('content-type', 'application/json; charset=utf-8');
    // The cast: Nest's type says a reply, but all that Nest does with what is returned is to await it, and a reply that is not sent yet would listen to its connection then. This rejects where sending fails.
    return turnsEnd().then(() => this.send(response, body)) as unknown as ReturnType<FastifyAdapter['reply']>;
  }

  override put(...route: Parameters<FastifyAdapter['put']>): ReturnType<FastifyAdapter['put']> {
    super.patch(...route);
    return super.put(...route);
  }

  private send(response: FastifyReply, { text, payload }: JsonText): void {
    void response.send(payload);
    if (text.length > MUCH) this.watching?.unread.look();
  }
}
