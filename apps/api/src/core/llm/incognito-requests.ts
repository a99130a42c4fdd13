import { IncognitoIds } from '@app/conversations';
import { Processes } from '@app/coordination';
import { ForwardingInterceptor, interceptorsOf, pathOf, type Place, TransientRequests } from '@app/http';
import { reject } from '@app/kernel';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { CONVERSATIONS } from './conversations-schemas';

/** Knows the requests for incognito conversations, and the process that has one by its id. */
@Injectable()
export class IncognitoRequests implements OnModuleInit {
  constructor(
    private readonly ids: IncognitoIds,
    private readonly processes: Processes,
    private readonly transients: TransientRequests,
    private readonly discovery: DiscoveryService,
  ) {}

  onModuleInit(): void {
    for (const { metatype } of this.discovery.getControllers()) if (metatype !== null) assertForwards(metatype);
    this.transients.register((request) => this.placeOf(request));
  }

  /** A new conversation begins here. One whose process is gone is looked for here too, where it is not found. */
  private placeOf({ routeOptions, params, body }: FastifyRequest): Promise<Place> | undefined {
    if (routeOptions.url?.startsWith(CONVERSATIONS) !== true) return undefined;
    const { conversationId, kind } = { ...(body as Named | null | undefined), ...(params as Named) };
    const tag = typeof conversationId === 'string' ? this.ids.tagIn(conversationId) : undefined;
    if (tag !== undefined) return this.processOf(tag);
    return kind === 'incognito' ? Promise.resolve('here') : undefined;
  }

  private async processOf(tag: string): Promise<Place> {
    if (tag === this.ids.tagOf(this.processes.id)) return 'here';
    // One that has just started has not been heard of yet.
    if (this.living(tag) === undefined) await this.processes.heartbeat();
    const process = this.living(tag);
    if (process === undefined) return 'here';
    return process.url === undefined ? reject('unavailable', { reason: 'no_process_url' }) : new URL(process.url);
  }

  private living(tag: string) {
    return this.processes.living().find(({ id }) => this.ids.tagOf(id) === tag);
  }
}

/** A request that is not forwarded would find nothing, and leave a hash of what it sent. */
const assertForwards = (controller: object & { readonly name?: string }): void => {
  if (
    String(pathOf(controller)).startsWith(CONVERSATIONS) &&
    !interceptorsOf(controller).includes(ForwardingInterceptor)
  )
    throw new Error(
      `${controller.name} does not forward requests for incognito conversations of other processes: add @UseInterceptors(ForwardingInterceptor).`,
    );
};

interface Named {
  readonly conversationId?: unknown;
  readonly kind?: unknown;
}
