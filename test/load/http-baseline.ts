import 'reflect-metadata';
import { Controller, Get, Header, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';

/** The constants, as JSON texts by path, arrive in the environment: the same bytes that the product answers with. */
const constants = JSON.parse(process.env['CONSTANTS'] ?? '{}') as { one: string; list: string };
const objects = { one: JSON.parse(constants.one) as object, list: JSON.parse(constants.list) as object };

/** What a Nest + Fastify route can do at best: it returns a constant. */
@Controller()
class ConstantController {
  @Get('text/one')
  @Header('content-type', 'application/json; charset=utf-8')
  textOne(): string {
    return constants.one;
  }

  @Get('text/list')
  @Header('content-type', 'application/json; charset=utf-8')
  textList(): string {
    return constants.list;
  }

  @Get('object/one')
  objectOne(): object {
    return objects.one;
  }

  @Get('object/list')
  objectList(): object {
    return objects.list;
  }
}

@Module({ controllers: [ConstantController] })
class BaselineModule {}

const main = async (): Promise<void> => {
  const app = await NestFactory.create<NestFastifyApplication>(BaselineModule, new FastifyAdapter(), { logger: false });
  await app.listen(0, '127.0.0.1');
  process.stdout.write(`${await app.getUrl()}\n`);
};

process.on('SIGINT', () => process.exit(0));
void main();
