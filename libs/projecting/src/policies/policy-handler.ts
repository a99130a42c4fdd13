import { DiscoveryService } from '@nestjs/core';

/**
 * Marks a class as a policy (`Policy`) that runs wherever a module provides it: `PolicyExplorer` finds it among the providers, as Nest
 * finds command handlers.
 */
export const PolicyHandler = DiscoveryService.createDecorator<void>();
