import { READ_STORE, type ReadStore } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type InvocationRow, invocations } from '../invocations.projection';

/** A model call; undefined where it is unknown. */
export class GetInvocation extends Query<InvocationRow | undefined> {
  constructor(readonly invocationId: string) {
    super();
  }
}

@QueryHandler(GetInvocation)
export class GetInvocationHandler implements IQueryHandler<GetInvocation> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ invocationId }: GetInvocation): Promise<InvocationRow | undefined> {
    return (await this.store.get(invocations.name, invocationId))?.row as InvocationRow | undefined;
  }
}
