export { AttachmentsViewModule } from './attachments-view.module';
export * from './attachments.projection';
