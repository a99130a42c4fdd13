import { runProcess } from '@app/process';
import { worker } from './app.module';

/** A process of workers alone. */
runProcess(worker);
