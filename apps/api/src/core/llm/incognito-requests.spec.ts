import type { IncognitoIds } from '@app/conversations';
import type { Processes } from '@app/coordination';
import { ForwardingInterceptor, type TransientRequests } from '@app/http';
import { Controller, type Type, UseInterceptors } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import { CONVERSATIONS } from './conversations-schemas';
import { IncognitoRequests } from './incognito-requests';

@Controller(`${CONVERSATIONS}/:conversationId/notes`)
class NotesController {}

@UseInterceptors(ForwardingInterceptor)
@Controller(`${CONVERSATIONS}/:conversationId/pins`)
class PinsController {}

@Controller('/api/v1/core/tags')
class TagsController {}

const start = (...controllers: Type[]): void => {
  const discovery = { getControllers: () => controllers.map((metatype) => ({ metatype })) };
  const transients: Pick<TransientRequests, 'register'> = { register: () => undefined };
  // The casts: only what is called is there.
  new IncognitoRequests(
    {} as IncognitoIds,
    {} as Processes,
    transients as TransientRequests,
    discovery as unknown as DiscoveryService,
  ).onModuleInit();
};

it('does not start with a controller of conversations that forwards nothing, and names it', () => {
  expect(() => start(PinsController, TagsController)).not.toThrow();
  expect(() => start(PinsController, NotesController)).toThrow(/NotesController does not forward/);
});
