import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Policies } from './policies';
import type { Policy } from '../projection';

/**
 * Marks a class as a policy (`Policy`) that runs wherever a module provides it: `PolicyExplorer` finds it among the providers, as Nest
 * finds command handlers.
 */
export const PolicyHandler = DiscoveryService.createDecorator<void>();

/** Hands every `@PolicyHandler()` of the application to `Policies`, before they start. */
@Injectable()
export class PolicyExplorer implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly policies: Policies,
  ) {}

  onModuleInit(): void {
    const found = this.discovery
      .getProviders({ metadataKey: PolicyHandler.KEY })
      .map(({ instance }) => instance as Policy);
    for (const policy of found.toSorted((a, b) => (a.name < b.name ? -1 : 1))) this.policies.add(policy);
  }
}
