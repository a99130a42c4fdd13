import { setImmediate as turn } from 'node:timers/promises';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { JsonText, JsonTextAdapter, type Tagged, tagged } from './json-text';

const did: string[] = [];

@Controller()
class Texts {
  @Get('quick')
  quick(): JsonText {
    did.push('quick made');
    return new JsonText('{"quick":true}');
  }

  @Get('slow')
  async slow(): Promise<JsonText> {
    for (let step = 0; step < 200; step += 1) await Promise.resolve();
    did.push('slow made');
    return new JsonText('{"slow":true}');
  }

  @Get('item')
  item(): Tagged {
    return tagged(new JsonText('{"item":true}'), 7);
  }
}

@Module({ controllers: [Texts] })
class TextsModule {}

const opened = async () => {
  const app = await NestFactory.create<NestFastifyApplication>(TextsModule, new JsonTextAdapter(), { logger: false });
  return { app, server: app.getHttpAdapter().getInstance() };
};

it('sends the answers of one turn together, also those that take longer to make', async () => {
  const { app, server } = await opened();
  server.addHook('onSend', async ({ url }) => void did.push(`${url.slice(1)} sent`));
  await app.init();
  await server.ready();
  try {
    await turn();
    const answers = await Promise.all(['/quick', '/slow'].map((url) => server.inject({ url })));
    expect(answers.map(({ body }) => body)).toEqual(['{"quick":true}', '{"slow":true}']);
    expect(did).toEqual(['quick made', 'slow made', 'quick sent', 'slow sent']);
  } finally {
    await app.close();
  }
});

it('makes an object of values and of JSON text that is there already, as JSON would', () => {
  const [one, two] = [new JsonText('{"id":"1"}'), new JsonText('{"id":"2"}')];
  const json = JsonText.of({
    items: [one, two],
    none: [],
    first: one,
    'a"b': { c: [1, null] },
    left: undefined,
    end: null,
  });
  expect(json.text).toBe(
    JSON.stringify({
      items: [{ id: '1' }, { id: '2' }],
      none: [],
      first: { id: '1' },
      'a"b': { c: [1, null] },
      end: null,
    }),
  );
  expect(JsonText.of({}).text).toBe('{}');
});

it('answers an item that is tagged with its revision as the etag, and another without', async () => {
  const { app, server } = await opened();
  await app.init();
  try {
    const [item, quick] = await Promise.all(['/item', '/quick'].map((url) => server.inject({ url })));
    expect([item?.body, item?.headers.etag, item?.headers['content-type']]).toEqual([
      '{"item":true}',
      '"7"',
      'application/json; charset=utf-8',
    ]);
    expect(quick?.headers.etag).toBeUndefined();
  } finally {
    await app.close();
  }
});
