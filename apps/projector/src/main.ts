import { runProcess } from '@app/process';
import { projector } from './app.module';

/** A process of projectors alone. */
runProcess(projector);
