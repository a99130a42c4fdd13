import { ask, conversationPath, platform, withConversations } from './conversations-world';

withConversations();

it('a conversation is changed by the etag that it is read with, also once an answer was rated or asked for anew', async () => {
  const { conversationId, message } = await ask('Why?');
  const path = conversationPath(`/${conversationId}`);
  for (const [sent, body] of [
    ['feedback', { rating: 'up' }],
    ['regenerate', {}],
  ] as const) {
    const done = await platform.call(`${path}/messages/${message.id}/${sent}`, { method: 'POST', body });
    expect(done.status).toBe(200);
    const read = await platform.call(path, { headers: { 'x-read-after': String(done.headers['x-log-position']) } });
    const change = {
      method: 'PUT',
      headers: { 'if-match': String(read.headers['etag']) },
      body: { title: sent },
    } as const;
    expect((await platform.call(path, change)).status).toBe(200);
  }
});
