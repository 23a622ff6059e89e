/* The hook's launcher: answers a host's hook by way of a warm process, and keeps the deadline whatever happens.

   hook PYTHON ENTRY HOST [--plain]        payload on stdin, answer on stdout, exit status 0 always
   hook --version

   It asks the newest `holdfast mcp` of this user through its private socket. Without one, or when that is too slow, it
   starts `PYTHON -I -S ENTRY --answer` with a socket as its standard input. Both get the same request and send the same
   messages; src/holdfast/home/hookline.py describes them. At the deadline the best answer so far is printed. The
   process then ends; the child goes on and stores the event. Nothing is written to disk here but lines of the log
   without content, because a payload may hold secrets, and only Python redacts. POSIX; on Windows hosts start Python. */

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* macOS: SO_NOSIGPIPE is set instead */
#endif
#ifndef VERSION
#define VERSION "0"
#endif

enum {
    ANSWER_MS = 500,          /* when the answer is due, counted from our start */
    LATE_MS = 2000,           /* the longest wait, at the moments that matter most and until a peer names its own */
    SERVER_MS = 200,          /* how long a server is waited for before Python starts beside it */
    LOGGED_MS = 100,          /* after the answer: how long a peer may take to log it, beyond ANSWER_MS */
    LEAVE_MS = 20,            /* what printing and leaving take off the deadline */
    SERVERS = 2,              /* how many servers are tried, newest first */
    PEERS = SERVERS + 1,
    PAYLOAD_LIMIT = 16000000, /* bytes */
    ANSWER_LIMIT = 1000000,
    FRAME_HEAD = 16,          /* bytes of a message's letter and length */
    FOLDER_LIMIT = 85,        /* bytes of a socket folder's path; see settings.socket_folder */
    CLOSED_FROM = 3, CLOSED_TO = 1024 /* descriptors of the host that the child must not keep open */
};

struct text { char *bytes; size_t size, room; };

struct peer {
    int fd;
    pid_t child;
    size_t sent;
    struct text in, offer;
    int is_open, has_offer;
};

static int64_t began_ms;
static const char *host = "", *nothing = "{}";
static char home[1024];
static struct text head, payload, answer;
static struct peer peers[PEERS];
static int peer_count, is_released;
static int64_t until_ms = LATE_MS; /* after our start */
static struct peer *answerer;      /* who sent the final answer */

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - began_ms;
}

static int add(struct text *text, const char *bytes, size_t size) {
    if (text->size + size + 1 > text->room) {
        size_t room = (text->size + size + 1) * 2;
        char *larger = realloc(text->bytes, room);
        if (larger == NULL) return 0;
        text->bytes = larger;
        text->room = room;
    }
    if (size) memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
    return 1;
}

static int write_all(int fd, const char *bytes, size_t size) {
    while (size) {
        ssize_t count = write(fd, bytes, size);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return 0;
        bytes += count;
        size -= (size_t)count;
    }
    return 1;
}

/* Print the text unless it is blank; return whether the host took it. */
static int print_text(const char *bytes, size_t size) {
    for (size_t at = 0; at < size; at++)
        if (!strchr(" \t\n\r\f\v", bytes[at]) || !bytes[at]) return write_all(1, bytes, size);
    return 1;
}

/* Append a line to the log: what happened, never what was in it. */
static void note(const char *what, int number) {
    char path[sizeof home + 16], line[256], stamp[32], name[41];
    size_t count = 0;
    time_t now = time(NULL);
    struct tm utc;
    if (!home[0] || !gmtime_r(&now, &utc)) return;
    for (const char *c = host; *c && count < sizeof name - 1; c++) name[count++] = *c > ' ' && *c < 127 ? *c : '_';
    name[count] = '\0';
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
    snprintf(path, sizeof path, "%s/hooks.log", home);
    snprintf(line, sizeof line, "%s %s launcher: %s%s%s\n", stamp, name, what, number ? ": " : "",
             number ? strerror(number) : "");
    int log = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (log < 0) return;
    write_all(log, line, strlen(line));
    close(log);
}

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

/* Find Holdfast's home as `settings.load_settings` does; a path that Python would rewrite stays empty. */
static void find_home(void) {
    const char *own = variable("HOLDFAST_HOME"), *user = variable("HOME");
    if (!user) user = variable("USERPROFILE");
    int size = snprintf(home, sizeof home, "%s%s", own ? own : user ? user : "", own || !user ? "" : "/.holdfast");
    if (size <= 0 || size >= (int)sizeof home || home[0] != '/') { home[0] = '\0'; return; }
    while (size > 1 && home[size - 1] == '/') home[--size] = '\0';
    char ended[sizeof home + 1];
    snprintf(ended, sizeof ended, "%s/", home);
    if (strstr(ended, "//") || strstr(ended, "/./") || strstr(ended, "/../")) home[0] = '\0';
}

static uint32_t crc32_of(const char *bytes) {
    uint32_t sum = 0xFFFFFFFFu;
    for (; *bytes; bytes++) {
        sum ^= (unsigned char)*bytes;
        for (int bit = 0; bit < 8; bit++) sum = sum & 1 ? sum >> 1 ^ 0xEDB88320u : sum >> 1;
    }
    return ~sum;
}

/* Read stdin to its end; return 0 if it is too long or does not end in time. */
static int read_payload(void) {
    static char part[65536];
    if (!add(&payload, "", 0)) return 0;
    for (;;) {
        struct pollfd input = {.fd = 0, .events = POLLIN};
        int64_t left = LATE_MS - LEAVE_MS - now_ms();
        if (left <= 0 || (poll(&input, 1, (int)left) < 0 && errno != EINTR)) break;
        if (!input.revents) continue;
        ssize_t count = read(0, part, sizeof part);
        if (count == 0) return 1;
        if (count < 0 && errno != EINTR && errno != EAGAIN) break;
        if (count > 0 && !add(&payload, part, (size_t)count)) break;
        if (payload.size > PAYLOAD_LIMIT) { note("a payload of more than 16,000,000 bytes", 0); return 0; }
    }
    note("the payload did not end", 0);
    return 0;
}

/* Write the request's first line. Servers get only the names of the variables that are set, never values. */
static int make_head(void) {
    extern char **environ;
    char line[8192];
    struct timeval now;
    const char *store = variable("HOLDFAST_STORE");
    gettimeofday(&now, NULL);
    int size = snprintf(line, sizeof line, "%s\t%s\t%s\t%zu\t%lld\t", VERSION, store ? store : "", host, payload.size,
                        (long long)now.tv_sec * 1000 + now.tv_usec / 1000 - now_ms());
    if (size < 0 || size >= (int)sizeof line || !add(&head, line, (size_t)size)) return 0;
    int tabs = 0;
    for (int at = 0; at < size; at++) tabs += line[at] == '\t' ? 1 : line[at] == '\n' ? 9 : 0;
    if (tabs != 5) return 0;
    for (char **entry = environ; *entry && head.size < 60000; entry++) {
        size_t length = strspn(*entry, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
        if (length == 0 || length > 256 || (*entry)[length] != '=' || !(*entry)[length + 1]) continue;
        if (!add(&head, *entry, length) || !add(&head, ",", 1)) return 0;
    }
    return add(&head, "\n", 1);
}

static struct peer *add_peer(int fd, pid_t child) {
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
#ifdef SO_NOSIGPIPE
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    struct peer *peer = &peers[peer_count++];
    peer->fd = fd;
    peer->child = child;
    peer->is_open = 1;
    return peer;
}

static int is_ours(int fd) {
#ifdef SO_PEERCRED
    struct ucred user;
    socklen_t size = sizeof user;
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &size) && user.uid == getuid();
#else
    uid_t user;
    gid_t group;
    return !getpeereid(fd, &user, &group) && user == getuid();
#endif
}

/* Connect to the newest server that is not yet a peer and whose socket is older than `before`; return its age's stamp. */
static int ask_server(int64_t *before) {
    char folder[sizeof home + 8];
    struct sockaddr_un address = {.sun_family = AF_UNIX}, newest = address;
    struct stat status;
    int size = snprintf(folder, sizeof folder, "%s/run", home);
    if (size > FOLDER_LIMIT)
        snprintf(folder, sizeof folder, "/tmp/holdfast-%lu-%08lx", (unsigned long)getuid(), (unsigned long)crc32_of(folder));
    if (lstat(folder, &status) || status.st_uid != getuid() || (status.st_mode & 0170077) != 0040000) return 0;
    DIR *names = opendir(folder);
    if (names == NULL) return 0;
    int64_t best = -1;
    for (struct dirent *entry; (entry = readdir(names)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".sock")) continue;
        size = snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", folder, entry->d_name);
        if (size < 0 || size >= (int)sizeof address.sun_path || lstat(address.sun_path, &status)) continue;
#ifdef __APPLE__
        int64_t made = (int64_t)status.st_mtimespec.tv_sec * 1000000000 + status.st_mtimespec.tv_nsec;
#else
        int64_t made = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
#endif
        if (S_ISSOCK(status.st_mode) && made > best && made < *before) { best = made; newest = address; }
    }
    closedir(names);
    *before = best;
    if (best < 0) return 0;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0) return 1;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, O_NONBLOCK); /* a full backlog refuses instead of blocking */
    if (connect(fd, (struct sockaddr *)&newest, sizeof newest) || !is_ours(fd)) close(fd);
    else add_peer(fd, 0);
    return 1;
}

static void start_python(char *python, char *entry) {
    int ends[2];
    if (access(python, X_OK) || access(entry, R_OK)) { note("Python or Holdfast is not there; the event is lost", errno); return; }
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) { note("no socket; the event is lost", errno); return; }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    pid_t child = fork();
    if (child == 0) {
        char *arguments[] = {python, "-I", "-S", entry, "--answer", NULL};
        int quiet = open("/dev/null", O_RDWR);
        setsid(); /* so that the end of the host and its process group does not end it */
        signal(SIGPIPE, SIG_DFL);
        dup2(ends[1], 0);
        if (quiet >= 0) { dup2(quiet, 1); dup2(quiet, 2); } else { close(1); close(2); }
        for (int fd = CLOSED_FROM; fd < CLOSED_TO; fd++) close(fd);
        execv(python, arguments);
        _exit(127);
    }
    close(ends[1]);
    if (child > 0) add_peer(ends[0], child);
    else { note("no process; the event is lost", errno); close(ends[0]); }
}

static void leave(struct peer *peer) {
    if (peer->is_open) close(peer->fd);
    peer->is_open = 0;
}

static void send_request(struct peer *peer) {
    while (peer->is_open && peer->sent < head.size + payload.size) {
        int in_head = peer->sent < head.size;
        const char *from = in_head ? head.bytes + peer->sent : payload.bytes + (peer->sent - head.size);
        size_t size = in_head ? head.size - peer->sent : head.size + payload.size - peer->sent;
        ssize_t count = send(peer->fd, from, size, MSG_NOSIGNAL);
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
        if (count <= 0) { leave(peer); return; }
        peer->sent += (size_t)count;
    }
}

/* Take one whole message from the peer's input; return 0 if there is none. */
static int take_message(struct peer *peer) {
    size_t at = 1, size = 0, limit = peer->in.size < FRAME_HEAD ? peer->in.size : FRAME_HEAD;
    char *bytes = peer->in.bytes;
    while (at < limit && bytes[at] >= '0' && bytes[at] <= '9') size = size * 10 + (size_t)(bytes[at++] - '0');
    if (at >= limit && limit < FRAME_HEAD) return 0; /* the rest of the head is still to come */
    if (at >= limit || at == 1 || at > 9 || bytes[at] != '\n' || size > ANSWER_LIMIT) { leave(peer); return 0; }
    if (peer->in.size - ++at < size) return 0;
    if (bytes[0] == 'A' || bytes[0] == 'N') {
        const char *text = bytes[0] == 'A' ? bytes + at : nothing;
        if (!answerer && add(&answer, text, bytes[0] == 'A' ? size : strlen(nothing))) answerer = peer;
    } else if (bytes[0] == 'O') {
        peer->offer.size = 0;
        peer->has_offer = add(&peer->offer, bytes + at, size);
    } else if (bytes[0] == 'W' && size > 0 && size < 8) {
        int64_t wait = 0;
        for (size_t digit = 0; digit < size; digit++)
            wait = wait * 10 + (bytes[at + digit] >= '0' && bytes[at + digit] <= '9' ? bytes[at + digit] - '0' : 9);
        until_ms = wait < LATE_MS ? wait : LATE_MS;
    } else if (bytes[0] == 'G') {
        is_released = 1;
    }
    peer->in.size -= at + size;
    memmove(bytes, bytes + at + size, peer->in.size);
    return 1;
}

static void hear(struct peer *peer) {
    char part[65536];
    while (peer->is_open) {
        ssize_t count = recv(peer->fd, part, sizeof part, 0);
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0 || !add(&peer->in, part, (size_t)count)) { leave(peer); return; }
        while (peer->is_open && peer->in.size > 0 && take_message(peer)) {}
    }
}

/* Send and hear until something changes, or for `wait_ms`; return the number of peers that are there. */
static int converse(int64_t wait_ms) {
    struct pollfd lines[PEERS];
    struct peer *who[PEERS];
    nfds_t count = 0;
    for (struct peer *peer = peers; peer < peers + peer_count; peer++) {
        if (!peer->is_open) continue;
        who[count] = peer;
        lines[count].fd = peer->fd;
        lines[count].revents = 0;
        lines[count++].events = (short)(POLLIN | (peer->sent < head.size + payload.size ? POLLOUT : 0));
    }
    if (count == 0 || wait_ms <= 0 || poll(lines, count, (int)wait_ms) <= 0) return (int)count;
    for (nfds_t at = 0; at < count; at++) {
        if (lines[at].revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) hear(who[at]);
        if (lines[at].revents & POLLOUT) send_request(who[at]);
    }
    return (int)count;
}

/* Ask servers, then Python, until one has answered or the deadline comes. */
static void get_answer(char *python, char *entry) {
    int64_t before = INT64_MAX;
    int servers_left = home[0] ? SERVERS : 0, is_python_asked = 0;
    while (!answerer) {
        int64_t now = now_ms(), until = until_ms - LEAVE_MS, limit = is_python_asked || SERVER_MS > until ? until : SERVER_MS;
        if (now >= until && is_python_asked) return;
        if (now < limit && converse(limit - now)) continue;
        if (answerer || is_python_asked) return;
        if (servers_left > 0 && now < limit) {
            servers_left = ask_server(&before) ? servers_left - 1 : 0;
        } else {
            is_python_asked = 1;
            start_python(python, entry);
        }
    }
}

/* Say which text the host got to everybody who was asked, so that only what was shown is logged. */
static void acknowledge(const struct peer *shown, char sign) {
    for (struct peer *peer = peers; peer < peers + peer_count; peer++) {
        char byte = peer == shown ? sign : '-';
        if (peer->is_open && send(peer->fd, &byte, 1, MSG_NOSIGNAL) != 1) leave(peer);
        if (peer != shown && !peer->child) leave(peer);
    }
}

/* Wait for the log of what was shown: the session's next hook may come at once, and must not show the same again. */
static void await_end(struct peer *shown) {
    int64_t until = now_ms() + LOGGED_MS;
    if (until < ANSWER_MS - LEAVE_MS) until = ANSWER_MS - LEAVE_MS;
    while (shown && shown->is_open && !is_released && now_ms() < until) converse(until - now_ms());
    for (int tries = 0; shown && shown->child && tries < 20; tries++) {
        if (waitpid(shown->child, NULL, WNOHANG) || shown->is_open) break; /* reaped, or it goes on */
        struct timespec nap = {.tv_nsec = 1000000};
        nanosleep(&nap, NULL);
    }
}

int main(int count, char **arguments) {
    began_ms = 0;
    began_ms = now_ms();
    signal(SIGPIPE, SIG_IGN);
    if (count == 2 && !strcmp(arguments[1], "--version")) return puts(VERSION) < 0;
    if (count < 4) return 0;
    host = arguments[3];
    for (int at = 4; at < count; at++)
        if (!strcmp(arguments[at], "--plain")) nothing = "";
    find_home();
    const char *off = variable("HOLDFAST_OFF");
    struct peer *shown = NULL;
    char sign = '-';
    if (!(off && strcmp(off, "0")) && read_payload() && make_head()) {
        get_answer(arguments[1], arguments[2]);
        for (struct peer *peer = peers + peer_count; (shown = answerer) == NULL && peer-- > peers;)
            if (peer->has_offer) { shown = peer; break; }
    }
    if (answerer) sign = print_text(answer.bytes, answer.size) ? '+' : 'x';
    else if (shown) sign = print_text(shown->offer.bytes, shown->offer.size) ? 'o' : 'x';
    else print_text(nothing, strlen(nothing));
    acknowledge(shown, sign);
    await_end(answerer);
    return 0;
}
