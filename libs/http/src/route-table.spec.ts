import fastify from 'fastify';
import { RouteTable } from './route-table';

const served = () => {
  const [table, server] = [new RouteTable(), fastify()];
  table.collect(server);
  return { table, server };
};
const answer = () => 'reached';

describe('the table of routes', () => {
  it('knows the methods that a path takes', () => {
    const { table, server } = served();
    server.get('/api/v1/things/:id', { config: { route: { requires: 'agents:read' } } }, answer);
    server.get('/docs', answer);
    expect(table.methodsOf('/api/v1/things/1/')).toEqual(['GET', 'HEAD']);
    expect(table.methodsOf('/api/v1/things/1/2')).toEqual([]);
    expect(table.methodsOf('/docs')).toEqual(['GET', 'HEAD']);
  });

  it('takes a path without parameters for itself, not for an id', () => {
    const { table, server } = served();
    server.get('/docs/:id', answer);
    server.post('/docs/import', answer);
    expect(table.methodsOf('/docs/import/')).toEqual(['POST']);
    expect(table.methodsOf('/docs/1')).toEqual(['GET', 'HEAD']);
    expect([table.has('/docs/import/'), table.has('/docs/1')]).toEqual([true, false]);
  });

  it('takes no route of an API that declares nothing: nobody could call it', () => {
    expect(() => served().server.get('/api/v1/things', answer)).toThrow(
      'GET /api/v1/things declares nothing: put @Documented above its @Controller.',
    );
  });
});
