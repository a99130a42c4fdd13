export { AttachmentsViewModule } from './attachments-view.module';
