import { Access } from '@app/access';
import { Controller, Get, Param, Post, Put } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ApiOperation } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { z } from 'zod';
import { Idempotency } from '../idempotency';
import { BodyInput, type Input, QueryInput } from '../input';
import { listOf, listQuery } from '../lists';
import { Answers, AnswersAs, Reads, Rejects, Requires } from '../route';
import { Documented } from './documented';
import { openApiDocument } from './openapi';

const tag = z.object({ id: z.string().describe('Its id.') }).meta({ id: 'Tag', description: 'A tag.' });
const newTag = z.strictObject({ name: z.string().describe('Its name.') });
const tags = listQuery({});

@Documented('Tags')
@Controller('agents/:agentId/tags')
class TagsController {
  @Get()
  @Requires('knowledge:read')
  @ApiOperation({ operationId: 'listTags', summary: 'Lists tags.' })
  @Answers(200, listOf(tag))
  @AnswersAs('text/csv')
  @Reads('tags')
  list(@QueryInput(tags) _query: Input<typeof tags>): void {}

  @Post()
  @Requires('knowledge:write')
  @ApiOperation({ operationId: 'createTag', summary: 'Creates a tag.' })
  @Answers(201, tag)
  @Rejects('name_taken')
  create(@BodyInput(newTag) _body: Input<typeof newTag>): void {}

  @Put(':tagId')
  @Requires('knowledge:write')
  @ApiOperation({ operationId: 'updateTag', summary: 'Changes a tag.' })
  @Answers(200, tag)
  update(@Param('tagId') _tagId: string, @BodyInput(newTag) _body: Input<typeof newTag>): void {}

  @Get('health')
  @Requires('public')
  @ApiOperation({ operationId: 'getHealth', summary: 'Whether it is well.' })
  @Answers(204)
  @Reads()
  health(): void {}
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security?: readonly object[];
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: object;
  readonly responses: Record<
    string,
    { readonly description: string; readonly content?: object; readonly headers?: object }
  >;
}

let paths: Record<string, Record<string, Operation>>;
let schemas: Record<string, object>;
beforeAll(async () => {
  const testing = await Test.createTestingModule({
    controllers: [TagsController],
    providers: [
      { provide: Idempotency, useValue: {} },
      { provide: Access, useValue: {} },
    ],
  }).compile();
  const document = openApiDocument(testing.createNestApplication(new FastifyAdapter()), '1.2.3');
  expect(document.info.version).toBe('1.2.3');
  paths = document.paths as typeof paths;
  schemas = document.components?.schemas as typeof schemas;
});

const PATH = '/agents/{agentId}/tags';
const of = (method: string, path = PATH): Operation => paths[path]?.[method] as Operation;
const json = (name: string) => ({ 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } });

it('a list is named after its items, and takes what its query takes', () => {
  const { parameters, responses } = of('get');
  expect(parameters.map((parameter) => `${parameter.in} ${parameter.name} ${parameter.required === true}`)).toEqual([
    'query limit false',
    'query cursor false',
    'path agentId true',
    'header x-read-after false',
  ]);
  expect(responses['200']?.content).toEqual({ ...json('TagList'), 'text/csv': { schema: { type: 'string' } } });
  expect(schemas['TagList']).toMatchObject({ properties: { items: { items: { $ref: '#/components/schemas/Tag' } } } });
});

it('a body is named after its operation', () => {
  expect(of('post').requestBody).toEqual({ required: true, content: json('CreateTagRequest') });
  expect(schemas['CreateTagRequest']).toMatchObject({ additionalProperties: false, required: ['name'] });
});

it('a write says that it may answer before it shows', () => {
  expect(Object.keys(of('post').responses['201']?.headers ?? {})).toEqual(['x-view-late']);
  expect(of('get').responses['200']?.headers).toBeUndefined();
});

it('errors have their codes by status: those of every route of its kind, and its own', () => {
  const { responses } = of('post');
  expect(responses['403']?.description).toBe('`forbidden`, `agent_not_granted`');
  expect(responses['409']?.description).toBe('`conflict`, `request_in_progress`, `name_taken`');
  expect(of('get').responses['503']?.description).toBe('`view_unavailable`, `unavailable`');
  expect(of('get').responses['409']).toBeUndefined();
});

it('PATCH stands beside PUT, under a name of its own', () => {
  const path = `${PATH}/{tagId}`;
  expect(of('patch', path)).toEqual({ ...of('put', path), operationId: 'patchTag' });
});

it('who may call is said by scheme; what is public asks for nothing', () => {
  expect(of('get').security).toEqual([{ apiKey: [] }, { session: [] }]);
  expect(of('get', `${PATH}/health`).security).toBeUndefined();
  expect(of('get').tags).toEqual(['Tags']);
});

describe('a route that leaves something out', () => {
  const documented = (...declared: readonly MethodDecorator[]) => {
    class ThingsController {
      list(): void {}
    }
    const descriptor = Object.getOwnPropertyDescriptor(ThingsController.prototype, 'list') as PropertyDescriptor;
    for (const declare of [Get(), ...declared]) declare(ThingsController.prototype, 'list', descriptor);
    Controller('things')(ThingsController);
    Documented('Tags')(ThingsController);
  };

  it('does not start without its answers', () =>
    expect(() => documented(Reads())).toThrow('ThingsController.list does not say what it answers: add @Answers'));
  it('does not start, as a GET, without its views', () =>
    expect(() => documented(Answers(204))).toThrow('ThingsController.list does not say which views it answers from'));
  it('starts with both', () => expect(() => documented(Answers(204), Reads())).not.toThrow());
});
