import '@app/kernel/compile-cache';
import 'reflect-metadata';

export { MonitoringModule } from './monitoring/monitoring.module';
export { runProcess } from './run-process';
export { type Platform, type Program, startProgram } from './start';
