import Fastify from 'fastify';
import { Pool } from 'undici';

/** What a gateway on Fastify and undici can do at best: bytes through, nothing looked at. */
const pool = new Pool(process.env['UPSTREAM'] as string);
const app = Fastify();
app.removeAllContentTypeParsers();
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
app.post('/v1/chat/completions', async (request, reply) => {
  const { statusCode, headers, body } = await pool.request({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { 'content-type': 'application/json' },
    body: request.body as Buffer,
  });
  return reply.code(statusCode).header('content-type', headers['content-type']).send(body);
});
process.on('SIGTERM', () => process.exit(0));
void app.listen({ port: 0, host: '127.0.0.1' }).then((url) => process.stdout.write(`${url}\n`));
