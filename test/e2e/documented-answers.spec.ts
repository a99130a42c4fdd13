import { DocumentedAnswers, type GivenAnswer } from './documented-answers';

const answers = new DocumentedAnswers({
  paths: {
    '/things/{id}': {
      get: {
        responses: {
          200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
          201: {
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } },
            headers: { 'x-view-late': {} },
          },
          404: { content: { 'application/problem+json': { schema: { type: 'object', required: ['code'] } } } },
        },
      },
    },
    '/files/{id}': { get: { responses: { 200: { content: { '*/*': { schema: { type: 'string' } } } } } } },
  },
  components: {
    schemas: {
      Thing: {
        type: 'object',
        properties: {
          name: { type: ['string', 'null'] },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Part' } },
        },
        required: ['name'],
      },
      Part: { type: 'object', properties: { kind: { enum: ['text', 'file'] } } },
    },
  },
});
const hold = (given: Partial<GivenAnswer>) => () =>
  answers.hold({
    method: 'get',
    path: '/things/{id}',
    status: 200,
    mediaType: 'application/json',
    body: { name: null },
    ...given,
  });

it('takes answers that the document has', () => {
  expect(hold({})).not.toThrow();
  expect(hold({ body: { name: 'a', parts: [{ kind: 'text' }], more: 1 } })).not.toThrow();
  expect(hold({ status: 404, mediaType: 'application/problem+json', body: { code: 'not_found' } })).not.toThrow();
});

it.each<[string, Partial<GivenAnswer>, RegExp]>([
  ['that lacks a field', { body: {} }, /^GET \/things\/\{id\} answers 200 .*\n {2}the answer must have .* 'name'/],
  ['with a member twice', { text: '{"name":"a","name":null}' }, /answers 200 with members of one name: \{"name"/],
  ['with another type', { body: { name: 1 } }, /\n {2}\/name must be string,null/],
  [
    'with another value inside a named schema',
    { body: { name: 'a', parts: [{ kind: 'x' }] } },
    /\/parts\/0\/kind .*"file"/,
  ],
  [
    'of a status that it lacks',
    { status: 202 },
    /GET \/things\/\{id\} answers 202 as application\/json: the document has no/,
  ],
  ['of a media type that it lacks', { status: 404 }, /answers 404 as application\/json: the document has no/],
])('throws at an answer %s, and says where', (_, given, said) => expect(hold(given)).toThrow(said));

it('takes id and revision in place of what was written, where a view is late and the document says so', () => {
  const bare = { id: '1', revision: 0 };
  expect(hold({ status: 201, isLate: true, body: bare })).not.toThrow();
  expect(hold({ status: 201, isLate: true, body: { ...bare, parts: [] } })).toThrow(/must have/);
  expect(hold({ status: 201, body: bare })).toThrow(/must have/);
  expect(hold({ isLate: true, body: bare })).toThrow(/must have/);
});

it('takes what was erased for any value, and nothing else with it', () => {
  const erased = { erased: true };
  expect(hold({ body: { name: erased, parts: erased } })).not.toThrow();
  expect(hold({ body: { name: erased, parts: [{ kind: 'x' }] } })).toThrow(/^(?!.*name)[^]*kind/);
  expect(hold({ body: { name: { erased: true, more: 1 } } })).toThrow(/name/);
});

it('leaves alone what the document does not have, and files of any kind', () => {
  expect(hold({ path: '/hidden', body: {} })).not.toThrow();
  expect(hold({ path: '/files/{id}', body: 3 })).not.toThrow();
});
