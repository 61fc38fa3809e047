// Embeds the files of the web page into the program.

#include "CWeb.h"

// In clang an extension before C23, and without effect on the rest.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "../page/index.html"
};

static const unsigned char actions_js[] = {
#embed "../page/actions.js"
};

static const unsigned char announcer_js[] = {
#embed "../page/announcer.js"
};

static const unsigned char app_js[] = {
#embed "../page/app.js"
};

static const unsigned char avatars_js[] = {
#embed "../page/avatars.js"
};

static const unsigned char calendar_js[] = {
#embed "../page/calendar.js"
};

static const unsigned char commands_js[] = {
#embed "../page/commands.js"
};

static const unsigned char completion_js[] = {
#embed "../page/completion.js"
};

static const unsigned char composer_js[] = {
#embed "../page/composer.js"
};

static const unsigned char conditions_js[] = {
#embed "../page/conditions.js"
};

static const unsigned char conversation_js[] = {
#embed "../page/conversation.js"
};

static const unsigned char date_text_js[] = {
#embed "../page/date-text.js"
};

static const unsigned char dialogs_js[] = {
#embed "../page/dialogs.js"
};

static const unsigned char dom_js[] = {
#embed "../page/dom.js"
};

static const unsigned char embed_js[] = {
#embed "../page/embed.js"
};

static const unsigned char emoji_js[] = {
#embed "../page/emoji.js"
};

static const unsigned char fetched_js[] = {
#embed "../page/fetched.js"
};

static const unsigned char files_js[] = {
#embed "../page/files.js"
};

static const unsigned char find_js[] = {
#embed "../page/find.js"
};

static const unsigned char format_js[] = {
#embed "../page/format.js"
};

static const unsigned char health_js[] = {
#embed "../page/health.js"
};

static const unsigned char icon_svg[] = {
#embed "../page/icon.svg"
};

static const unsigned char kept_js[] = {
#embed "../page/kept.js"
};

static const unsigned char list_js[] = {
#embed "../page/list.js"
};

static const unsigned char manifest_webmanifest[] = {
#embed "../page/manifest.webmanifest"
};

static const unsigned char muted_js[] = {
#embed "../page/muted.js"
};

static const unsigned char names_js[] = {
#embed "../page/names.js"
};

static const unsigned char notifier_js[] = {
#embed "../page/notifier.js"
};

static const unsigned char people_js[] = {
#embed "../page/people.js"
};

static const unsigned char popups_js[] = {
#embed "../page/popups.js"
};

static const unsigned char position_js[] = {
#embed "../page/position.js"
};

static const unsigned char problems_js[] = {
#embed "../page/problems.js"
};

static const unsigned char relay_room_js[] = {
#embed "../page/relay-room.js"
};

static const unsigned char room_head_js[] = {
#embed "../page/room-head.js"
};

static const unsigned char room_view_js[] = {
#embed "../page/room-view.js"
};

static const unsigned char roving_js[] = {
#embed "../page/roving.js"
};

static const unsigned char row_js[] = {
#embed "../page/row.js"
};

static const unsigned char rows_js[] = {
#embed "../page/rows.js"
};

static const unsigned char scrollbar_js[] = {
#embed "../page/scrollbar.js"
};

static const unsigned char search_all_js[] = {
#embed "../page/search-all.js"
};

static const unsigned char search_bar_js[] = {
#embed "../page/search-bar.js"
};

static const unsigned char service_worker_js[] = {
#embed "../page/service-worker.js"
};

static const unsigned char session_js[] = {
#embed "../page/session.js"
};

static const unsigned char sign_in_js[] = {
#embed "../page/sign-in.js"
};

static const unsigned char slash_js[] = {
#embed "../page/slash.js"
};

static const unsigned char style_css[] = {
#embed "../page/style.css"
};

static const unsigned char text_js[] = {
#embed "../page/text.js"
};

static const unsigned char timeline_js[] = {
#embed "../page/timeline.js"
};

static const unsigned char relay_client_allowed_js[] = {
#embed "../../JavaScript/relay-client/allowed.js"
};

static const unsigned char relay_client_check_js[] = {
#embed "../../JavaScript/relay-client/check.js"
};

static const unsigned char relay_client_client_js[] = {
#embed "../../JavaScript/relay-client/client.js"
};

static const unsigned char relay_client_connection_js[] = {
#embed "../../JavaScript/relay-client/connection.js"
};

static const unsigned char relay_client_deadline_js[] = {
#embed "../../JavaScript/relay-client/deadline.js"
};

static const unsigned char relay_client_directory_js[] = {
#embed "../../JavaScript/relay-client/directory.js"
};

static const unsigned char relay_client_emitter_js[] = {
#embed "../../JavaScript/relay-client/emitter.js"
};

static const unsigned char relay_client_errors_js[] = {
#embed "../../JavaScript/relay-client/errors.js"
};

static const unsigned char relay_client_fold_js[] = {
#embed "../../JavaScript/relay-client/fold.js"
};

static const unsigned char relay_client_guarded_storage_js[] = {
#embed "../../JavaScript/relay-client/guarded-storage.js"
};

static const unsigned char relay_client_history_js[] = {
#embed "../../JavaScript/relay-client/history.js"
};

static const unsigned char relay_client_http_js[] = {
#embed "../../JavaScript/relay-client/http.js"
};

static const unsigned char relay_client_indexeddb_store_js[] = {
#embed "../../JavaScript/relay-client/indexeddb-store.js"
};

static const unsigned char relay_client_iteration_js[] = {
#embed "../../JavaScript/relay-client/iteration.js"
};

static const unsigned char relay_client_journal_js[] = {
#embed "../../JavaScript/relay-client/journal.js"
};

static const unsigned char relay_client_ladder_js[] = {
#embed "../../JavaScript/relay-client/ladder.js"
};

static const unsigned char relay_client_line_backup_js[] = {
#embed "../../JavaScript/relay-client/line-backup.js"
};

static const unsigned char relay_client_liveness_js[] = {
#embed "../../JavaScript/relay-client/liveness.js"
};

static const unsigned char relay_client_members_js[] = {
#embed "../../JavaScript/relay-client/members.js"
};

static const unsigned char relay_client_memory_store_js[] = {
#embed "../../JavaScript/relay-client/memory-store.js"
};

static const unsigned char relay_client_outbox_js[] = {
#embed "../../JavaScript/relay-client/outbox.js"
};

static const unsigned char relay_client_poll_js[] = {
#embed "../../JavaScript/relay-client/poll.js"
};

static const unsigned char relay_client_relay_client_js[] = {
#embed "../../JavaScript/relay-client/relay-client.js"
};

static const unsigned char relay_client_relay_js[] = {
#embed "../../JavaScript/relay-client/relay.js"
};

static const unsigned char relay_client_room_list_js[] = {
#embed "../../JavaScript/relay-client/room-list.js"
};

static const unsigned char relay_client_room_js[] = {
#embed "../../JavaScript/relay-client/room.js"
};

static const unsigned char relay_client_sender_js[] = {
#embed "../../JavaScript/relay-client/sender.js"
};

static const unsigned char relay_client_session_js[] = {
#embed "../../JavaScript/relay-client/session.js"
};

static const unsigned char relay_client_shared_js[] = {
#embed "../../JavaScript/relay-client/shared.js"
};

static const unsigned char relay_client_stream_js[] = {
#embed "../../JavaScript/relay-client/stream.js"
};

static const unsigned char relay_client_tab_message_js[] = {
#embed "../../JavaScript/relay-client/tab-message.js"
};

static const unsigned char relay_client_timeline_js[] = {
#embed "../../JavaScript/relay-client/timeline.js"
};

static const unsigned char relay_client_timing_js[] = {
#embed "../../JavaScript/relay-client/timing.js"
};

static const unsigned char relay_client_visible_js[] = {
#embed "../../JavaScript/relay-client/visible.js"
};

static const unsigned char relay_client_websocket_js[] = {
#embed "../../JavaScript/relay-client/websocket.js"
};

static const struct cweb_file files[] = {
    {"index.html", index_html, sizeof index_html},
    {"actions.js", actions_js, sizeof actions_js},
    {"announcer.js", announcer_js, sizeof announcer_js},
    {"app.js", app_js, sizeof app_js},
    {"avatars.js", avatars_js, sizeof avatars_js},
    {"calendar.js", calendar_js, sizeof calendar_js},
    {"commands.js", commands_js, sizeof commands_js},
    {"completion.js", completion_js, sizeof completion_js},
    {"composer.js", composer_js, sizeof composer_js},
    {"conditions.js", conditions_js, sizeof conditions_js},
    {"conversation.js", conversation_js, sizeof conversation_js},
    {"date-text.js", date_text_js, sizeof date_text_js},
    {"dialogs.js", dialogs_js, sizeof dialogs_js},
    {"dom.js", dom_js, sizeof dom_js},
    {"embed.js", embed_js, sizeof embed_js},
    {"emoji.js", emoji_js, sizeof emoji_js},
    {"fetched.js", fetched_js, sizeof fetched_js},
    {"files.js", files_js, sizeof files_js},
    {"find.js", find_js, sizeof find_js},
    {"format.js", format_js, sizeof format_js},
    {"health.js", health_js, sizeof health_js},
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"kept.js", kept_js, sizeof kept_js},
    {"list.js", list_js, sizeof list_js},
    {"manifest.webmanifest", manifest_webmanifest, sizeof manifest_webmanifest},
    {"muted.js", muted_js, sizeof muted_js},
    {"names.js", names_js, sizeof names_js},
    {"notifier.js", notifier_js, sizeof notifier_js},
    {"people.js", people_js, sizeof people_js},
    {"popups.js", popups_js, sizeof popups_js},
    {"position.js", position_js, sizeof position_js},
    {"problems.js", problems_js, sizeof problems_js},
    {"relay-room.js", relay_room_js, sizeof relay_room_js},
    {"room-head.js", room_head_js, sizeof room_head_js},
    {"room-view.js", room_view_js, sizeof room_view_js},
    {"roving.js", roving_js, sizeof roving_js},
    {"row.js", row_js, sizeof row_js},
    {"rows.js", rows_js, sizeof rows_js},
    {"scrollbar.js", scrollbar_js, sizeof scrollbar_js},
    {"search-all.js", search_all_js, sizeof search_all_js},
    {"search-bar.js", search_bar_js, sizeof search_bar_js},
    {"service-worker.js", service_worker_js, sizeof service_worker_js},
    {"session.js", session_js, sizeof session_js},
    {"sign-in.js", sign_in_js, sizeof sign_in_js},
    {"slash.js", slash_js, sizeof slash_js},
    {"style.css", style_css, sizeof style_css},
    {"text.js", text_js, sizeof text_js},
    {"timeline.js", timeline_js, sizeof timeline_js},
    {"relay-client/allowed.js", relay_client_allowed_js, sizeof relay_client_allowed_js},
    {"relay-client/check.js", relay_client_check_js, sizeof relay_client_check_js},
    {"relay-client/client.js", relay_client_client_js, sizeof relay_client_client_js},
    {"relay-client/connection.js", relay_client_connection_js, sizeof relay_client_connection_js},
    {"relay-client/deadline.js", relay_client_deadline_js, sizeof relay_client_deadline_js},
    {"relay-client/directory.js", relay_client_directory_js, sizeof relay_client_directory_js},
    {"relay-client/emitter.js", relay_client_emitter_js, sizeof relay_client_emitter_js},
    {"relay-client/errors.js", relay_client_errors_js, sizeof relay_client_errors_js},
    {"relay-client/fold.js", relay_client_fold_js, sizeof relay_client_fold_js},
    {"relay-client/guarded-storage.js", relay_client_guarded_storage_js, sizeof relay_client_guarded_storage_js},
    {"relay-client/history.js", relay_client_history_js, sizeof relay_client_history_js},
    {"relay-client/http.js", relay_client_http_js, sizeof relay_client_http_js},
    {"relay-client/indexeddb-store.js", relay_client_indexeddb_store_js, sizeof relay_client_indexeddb_store_js},
    {"relay-client/iteration.js", relay_client_iteration_js, sizeof relay_client_iteration_js},
    {"relay-client/journal.js", relay_client_journal_js, sizeof relay_client_journal_js},
    {"relay-client/ladder.js", relay_client_ladder_js, sizeof relay_client_ladder_js},
    {"relay-client/line-backup.js", relay_client_line_backup_js, sizeof relay_client_line_backup_js},
    {"relay-client/liveness.js", relay_client_liveness_js, sizeof relay_client_liveness_js},
    {"relay-client/members.js", relay_client_members_js, sizeof relay_client_members_js},
    {"relay-client/memory-store.js", relay_client_memory_store_js, sizeof relay_client_memory_store_js},
    {"relay-client/outbox.js", relay_client_outbox_js, sizeof relay_client_outbox_js},
    {"relay-client/poll.js", relay_client_poll_js, sizeof relay_client_poll_js},
    {"relay-client/relay-client.js", relay_client_relay_client_js, sizeof relay_client_relay_client_js},
    {"relay-client/relay.js", relay_client_relay_js, sizeof relay_client_relay_js},
    {"relay-client/room-list.js", relay_client_room_list_js, sizeof relay_client_room_list_js},
    {"relay-client/room.js", relay_client_room_js, sizeof relay_client_room_js},
    {"relay-client/sender.js", relay_client_sender_js, sizeof relay_client_sender_js},
    {"relay-client/session.js", relay_client_session_js, sizeof relay_client_session_js},
    {"relay-client/shared.js", relay_client_shared_js, sizeof relay_client_shared_js},
    {"relay-client/stream.js", relay_client_stream_js, sizeof relay_client_stream_js},
    {"relay-client/tab-message.js", relay_client_tab_message_js, sizeof relay_client_tab_message_js},
    {"relay-client/timeline.js", relay_client_timeline_js, sizeof relay_client_timeline_js},
    {"relay-client/timing.js", relay_client_timing_js, sizeof relay_client_timing_js},
    {"relay-client/visible.js", relay_client_visible_js, sizeof relay_client_visible_js},
    {"relay-client/websocket.js", relay_client_websocket_js, sizeof relay_client_websocket_js},
};

size_t cweb_count(void) { return sizeof files / sizeof *files; }

const struct cweb_file *cweb_file(size_t index) { return &files[index]; }
