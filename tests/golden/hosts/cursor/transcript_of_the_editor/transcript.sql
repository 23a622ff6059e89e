CREATE TABLE cursorDiskKV (key TEXT PRIMARY KEY, value BLOB);
INSERT INTO cursorDiskKV VALUES ('composerData:k1', '{"name": "cents", "createdAt": 1788256800000, "fullConversationHeadersOnly": [{"bubbleId": "b1", "type": 1}, {"bubbleId": "b2", "type": 1}, {"bubbleId": "b3", "type": 1}, {"bubbleId": "b4", "type": 1}]}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:k1:b1', '{"type": 1, "text": "Never lose a cent when a dinner is split.", "createdAt": "2026-09-01T10:00:01.000Z"}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:k1:b2', '{"type": 2, "text": "", "createdAt": "2026-09-01T10:00:02.000Z", "toolFormerData": {"name": "run_terminal_cmd", "toolCallId": "call_1", "status": "completed", "rawArgs": "{\"command\": \"pytest -q\"}", "result": "{\"output\": \"E  9.99 != 10.00\", \"exitCodeV2\": 1}"}}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:k1:b3', '{"type": 2, "text": "", "createdAt": "2026-09-01T10:00:03.000Z", "toolFormerData": {"name": "search_replace", "toolCallId": "call_2", "status": "completed", "rawArgs": "{\"file_path\": \"/home/ada/ledger/money.py\", \"old_string\": \"a / b\", \"new_string\": \"divmod(a, b)\"}", "result": "{}"}}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:k1:b4', '{"type": 2, "text": "Odd cents go to the first.", "createdAt": "2026-09-01T10:00:04.000Z"}');
INSERT INTO cursorDiskKV VALUES ('composerData:k2', '{"createdAt": 1788256800000, "conversation": [{"type": 1, "text": "An older chat."}, {"type": 2, "text": "An older answer."}]}');
INSERT INTO cursorDiskKV VALUES ('composerData:bad', '{"half');
