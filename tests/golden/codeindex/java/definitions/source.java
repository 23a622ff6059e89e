package shop;

/** An order. */
@Entity(name = "orders")
public final class Order<T extends Line> extends Base implements Priced, Other {
    private static final int LIMIT = 1, OTHER = 2;
    final static String NAME = "order";
    private int count;

    static {
        register();
    }

    public Order(int count) {
        this.count = count;
    }

    @Override
    @Deprecated
    public <R> void add(final int line, String... rest) throws OrderException {
        class Local {
            void method() {}
        }
        Runnable later = () -> {};
        new Object() {
            void anonymous() {}
        };
    }

    void add(String line) {}

    static class Nested {}

    enum State {
        OPEN,
        CLOSED {
            void enter() {}
        };

        void leave() {}
    }
}

interface Priced {
    int CENTS = 100;

    int price();

    default int doubled() {
        return price() * 2;
    }
}

record Line(int price, String name) implements Priced {
    Line {
        check(price);
    }

    Line(int price) {
        this(price, "");
    }
}

@interface Entity {
    String name() default "";
}
