import { runProcess } from '@app/process';
import { api } from '../../apps/api/src/program';
import { SavedParts } from '../../libs/conversations/src/answering/saved-parts';

// The product that saves nothing of an answer while it streams, to measure what saving costs.
SavedParts.prototype.changed = () => undefined;
runProcess(api);
